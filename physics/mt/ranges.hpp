// SPDX-License-Identifier: Apache-2.0
// Small on purpose: configurations and files check them without any mesh or map.
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

/// The frequencies in Hz, and the periods in s, that files and configurations may state: far more than
/// natural fields have, and few enough for every product of them to be finite.
inline constexpr double least_frequency_hz = 1e-9, largest_frequency_hz = 1e9;

/// Tests whether a frequency in Hz or a period in s lies in the range; false for a number that is not finite.
[[nodiscard]] constexpr bool is_in_frequency_range(double frequency_hz) {
  return frequency_hz >= least_frequency_hz && frequency_hz <= largest_frequency_hz;
}

/// The largest coordinate, on either side of 0, that files and configurations may state.
inline constexpr double largest_coordinate_m = 1e8;

/// Tests whether a coordinate in metres lies in the range; false for a number that is not finite.
[[nodiscard]] constexpr bool is_in_coordinate_range(double metres) {
  return metres >= -largest_coordinate_m && metres <= largest_coordinate_m;
}

/// The least distance along the profile between two stations of a survey, and the least extent of a body of a
/// model.
inline constexpr double least_distance_m = 1e-3;

/// The largest angle, either way, that files may state.
inline constexpr double largest_angle_deg = 360.0;

}  // namespace lodestone::physics::mt
