// SPDX-License-Identifier: Apache-2.0
#include "io/model/lattice.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::io::model {

std::map<double, int> lattice_of(const std::vector<double>& values, const std::string& path,
                                 const std::string& reader, const char* what) {
  std::map<double, int> places;
  for (const double value : values) places.emplace(value, 0);
  if (places.size() < 2)
    throw core::FormatError(reader + "#too_few_points", "{}: expected points at two {} or more, got {}", path,
                            what, places.size());
  int next = 0;
  for (auto& place : places) place.second = next++;
  return places;
}

std::vector<double> edges_around(const std::map<double, int>& points, double first_m) {
  std::vector<double> at, edges;
  for (const auto& [value, place] : points) at.push_back(value);
  edges.push_back(std::max(first_m, 1.5 * at[0] - 0.5 * at[1]));
  for (std::size_t i = 0; i + 1 < at.size(); ++i) edges.push_back(0.5 * (at[i] + at[i + 1]));
  edges.push_back(1.5 * at.back() - 0.5 * at[at.size() - 2]);
  return edges;
}

}  // namespace lodestone::io::model
