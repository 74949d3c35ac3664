// SPDX-License-Identifier: Apache-2.0
#include "engine/data/permutation.hpp"

#include "engine/core/random.hpp"

#include <numeric>
#include <utility>

namespace lodestone::engine {

std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const core::Philox random(seed, stream);
  for (std::size_t i = order.size(); i > 1; --i) {
    // The number is below 1, but its product with i may round up to i.
    const auto drawn = static_cast<std::size_t>(random.uniform(i) * static_cast<double>(i));
    std::swap(order[i - 1], order[drawn < i ? drawn : i - 1]);
  }
  return order;
}

}  // namespace lodestone::engine
