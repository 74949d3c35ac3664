// SPDX-License-Identifier: Apache-2.0
// Small on purpose: configurations and files check it without any mesh or map.
#pragma once

namespace lodestone::physics::mt {

/// The resistivities of a model given from outside. Beyond them, systems of equations are singular to the
/// digits of double precision, and skin depths of micrometres need unbounded meshes. Sea water to dry rock is
/// 0.1 to 1e6 ohm m.
inline constexpr double least_resistivity_ohm_m = 1e-6, largest_resistivity_ohm_m = 1e12;

/// Tests whether a resistivity lies in the range; false for a number that is not finite.
[[nodiscard]] constexpr bool is_in_resistivity_range(double resistivity_ohm_m) {
  return resistivity_ohm_m >= least_resistivity_ohm_m && resistivity_ohm_m <= largest_resistivity_ohm_m;
}

}  // namespace lodestone::physics::mt
