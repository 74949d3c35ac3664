// SPDX-License-Identifier: Apache-2.0
// What this shows: every map is checked by the same two functions, here a layered earth whose data are
// compared as logarithms.
//
// Equation: F(x + h v) − F(x) − h J v = O(h²), and wᵀ(J v) = vᵀ(Jᵀ w)
//
// Sample run: 04_derivative_check
//
// Builds on: 02_layered_earth
#include "engine/core/map_checks.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <fmt/core.h>

namespace core = lodestone::core;
namespace mt = lodestone::physics::mt;

int main() {
  const core::MapPtr map = mt::d1::data_map(
      {500.0, 2000.0},
      mt::full_survey({{"site"}}, {10.0, 1.0, 0.1}, {mt::Datum::log10_rho_xy, mt::Datum::phase_xy}));
  const Eigen::Vector3d log10_resistivity(2.0, 1.0, 3.0);

  const core::MapCheckResult derivative = core::check_derivative(*map, log10_resistivity);
  const core::MapCheckResult adjoint = core::check_adjoint(*map, log10_resistivity);
  fmt::print("{}\n{}", derivative.report, adjoint.report);
  return derivative.passed && adjoint.passed ? 0 : 1;
}
