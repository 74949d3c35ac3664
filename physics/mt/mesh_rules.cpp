// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/mesh_rules.hpp"

#include <algorithm>
#include <numeric>

namespace lodestone::physics::mt {

std::vector<std::vector<int>> frequency_bands(const std::vector<double>& frequencies_hz, double ratio) {
  std::vector<int> order(frequencies_hz.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return frequencies_hz[a] > frequencies_hz[b]; });
  std::vector<std::vector<int>> bands;
  for (const int index : order) {
    if (bands.empty() || frequencies_hz[bands.back().front()] > ratio * frequencies_hz[index])
      bands.emplace_back();
    bands.back().push_back(index);
  }
  return bands;
}

}  // namespace lodestone::physics::mt
