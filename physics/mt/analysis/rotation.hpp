// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one matrix.
#pragma once

#include "physics/mt/units.hpp"

#include <Eigen/Core>

namespace lodestone::physics::mt {

/// Returns R of axes turned clockwise: v' = R v, and A' = R A Rᵀ.
[[nodiscard]] inline Eigen::Matrix2d axes_turned_by(double angle_deg) {
  const double c = std::cos(angle_deg / deg_per_rad), s = std::sin(angle_deg / deg_per_rad);
  return Eigen::Matrix2d{{c, s}, {-s, c}};
}

}  // namespace lodestone::physics::mt
