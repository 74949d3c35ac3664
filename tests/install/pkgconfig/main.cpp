// SPDX-License-Identifier: Apache-2.0
// A program of a user who does not use CMake: physics, checks and messages link through lodestone.pc.
#include "engine/core/log.hpp"
#include "engine/core/map_checks.hpp"
#include "inversion/objective/parameter_maps.hpp"

int main() {
  const auto map = lodestone::inversion::objective::bounds_map(3, 0.0, 4.0);
  const auto result = lodestone::core::check_derivative(*map, Eigen::Vector3d(-1.0, 0.5, 2.0));
  lodestone::core::log::info("Taylor order {:.2f}", result.figure);
  return result.passed ? 0 : 1;
}
