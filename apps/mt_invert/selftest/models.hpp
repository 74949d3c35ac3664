// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <string>
#include <vector>

namespace lodestone::mt_invert::selftest {

/// A published 2-D model and where its vertical contacts (or the kinks of its surface) are.
struct BenchmarkModel {
  physics::mesh::Model section;
  std::vector<double> contacts_m;
  double body_width_m = 0.0;  ///< width of the narrowest body
  double rho_limit_percent = 0.5, phase_limit_deg = 0.2;
  double tipper_limit = 0.002;  ///< for each part of Tzy in TE, which has no jumps there
  /// Returns whether a site is closer to a contact than 2 % of the body's width. TM is discontinuous there,
  /// and no code should be judged by it.
  [[nodiscard]] bool is_at_contact(double y_m) const;
};

/// Returns COMMEMI 2D-0, 2D-1, 2D-2, 2D-4 or the hill of Wannamaker et al. 1986 by name; geometry:
/// data/benchmarks/README.md. source: Zhdanov et al. 1997, doi:10.1016/S0926-9851(97)00013-X. For `fine` the
/// limits are 0.1 % and 0.05 degrees, and the slope of 2D-4 has smaller steps.
[[nodiscard]] BenchmarkModel benchmark_model(
    const std::string& name, physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard);

}  // namespace lodestone::mt_invert::selftest
