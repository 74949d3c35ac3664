// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lodestone::physics::mt {

/// What a model given from outside may be made of. Beyond, systems of equations are singular to the digits of
/// double precision, and skin depths of micrometres ask for meshes without end. Sea water to dry rock is 0.1
/// to 1e6 ohm m.
inline constexpr double least_resistivity_ohm_m = 1e-6, largest_resistivity_ohm_m = 1e12;

/// False for what is not finite.
[[nodiscard]] constexpr bool is_in_resistivity_range(double resistivity_ohm_m) {
  return resistivity_ohm_m >= least_resistivity_ohm_m && resistivity_ohm_m <= largest_resistivity_ohm_m;
}

}  // namespace lodestone::physics::mt
