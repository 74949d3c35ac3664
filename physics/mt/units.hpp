// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <complex>
#include <numbers>

/// Constants and unit conversions of magnetotellurics; inside, impedances are SI (ohm = V/A), files keep
/// their own units.
namespace lodestone::physics::mt {

inline constexpr double mu0 = 4e-7 * std::numbers::pi;                 ///< H/m
inline constexpr double ohm_per_field_unit = 4e-4 * std::numbers::pi;  ///< 1 mV/km/nT in ohm
inline constexpr double ohm_per_modem_si = 4e-7 * std::numbers::pi;    ///< 1 (V/m)/T in ohm
inline constexpr double deg_per_rad = 180.0 / std::numbers::pi;
inline constexpr double ln10 = std::numbers::ln10;
inline constexpr double perfect_conductor_ohm_m =
    1e-5;  ///< a bottom row at or below this is a boundary condition

[[nodiscard]] inline double omega(double frequency_hz) { return 2.0 * std::numbers::pi * frequency_hz; }

/// Returns the depth in m at which a plane wave has fallen to 1/e of its surface value in a half-space.
[[nodiscard]] inline double skin_depth_m(double resistivity_ohm_m, double frequency_hz) {
  return std::sqrt(2.0 * resistivity_ohm_m / (omega(frequency_hz) * mu0));
}
/// Returns ρₐ = |Z|²/(ωμ₀) in ohm m.
[[nodiscard]] inline double apparent_resistivity_ohm_m(std::complex<double> impedance_ohm,
                                                       double frequency_hz) {
  return std::norm(impedance_ohm) / (omega(frequency_hz) * mu0);
}
/// Returns the phase from −180 to 180 degrees, not folded.
[[nodiscard]] inline double phase_deg(std::complex<double> impedance_ohm) {
  return std::arg(impedance_ohm) * deg_per_rad;
}

}  // namespace lodestone::physics::mt
