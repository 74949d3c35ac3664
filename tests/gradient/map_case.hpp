// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/core/map_checks.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::tests {

/// One row of the table: a map, the point it is checked at, and tolerances where they differ from the usual
/// ones.
struct MapCase {
  std::string name;
  std::function<core::MapPtr()> make;
  std::function<Eigen::VectorXd()> point;
  core::MapCheckOptions options = {};
};

// One function per layer, each in its own file; test_maps.cpp runs them all.
[[nodiscard]] std::vector<MapCase> core_maps();
[[nodiscard]] std::vector<MapCase> engine_maps();
[[nodiscard]] std::vector<MapCase> physics_maps();
[[nodiscard]] std::vector<MapCase> inversion_maps();
[[nodiscard]] std::vector<MapCase> models_maps();

/// Returns repeatable numbers in (low, high).
[[nodiscard]] Eigen::VectorXd some_numbers(Eigen::Index size, double low, double high);

}  // namespace lodestone::tests
