// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/element.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

/// A measured complex number with the standard deviation of its real and of its imaginary part; NaN = missing
/// (masked).
struct Estimate {
  Complex value{not_given, not_given};
  double sigma = not_given;
  [[nodiscard]] bool is_missing() const {
    return !(std::isfinite(value.real()) && std::isfinite(value.imag()));
  }
};

/// Impedance and tipper at one frequency. units: impedance ohm (SI), tipper none. sign: e^{+iωt}.
struct TransferFunctionRow {
  double frequency_hz = not_given;
  std::array<Estimate, 4> impedance;  ///< xx, xy, yx, yy
  std::array<Estimate, 2> tipper;     ///< x, y: Hz = Tx·Hx + Ty·Hy
};

/// Everything one station's file says. Frame: x along azimuth `frame_deg` (clockwise from geographic north),
/// y 90° further, z down.
struct TransferFunctions {
  std::string name;
  std::string path, format;  ///< where it was read from; "EDI"
  double latitude_deg = not_given, longitude_deg = not_given, elevation_m = not_given;
  double frame_deg = 0.0;
  double frame_in_file_deg = 0.0;  ///< what the impedance was turned from; NaN when it varies with frequency
  std::vector<TransferFunctionRow> rows;                       ///< highest frequency first
  std::string sign_in_file = "+", units_in_file = "mV/km/nT";  ///< what was converted from
  std::vector<std::string> warnings;  ///< assumptions made while reading, with file:line
};

/// Tensor and tipper in a frame whose x axis points to `azimuth_deg`. Z' = R Z Rᵀ, T' = T Rᵀ, R = [[cos,
/// sin], [−sin, cos]]. Variances are propagated as if the elements were independent; a partly missing tensor
/// gives missing rotated elements (multiples of 90° only permute them).
[[nodiscard]] TransferFunctions rotated_to(const TransferFunctions& station, double azimuth_deg);

/// Two frequencies closer than this (relative) are the same one written with other digits.
inline constexpr double same_frequency = 1e-6;

/// The station on another frequency list: Z/√f and T linear in log f (opt-in; never beyond the measured band,
/// never across a gap of more than one missing frequency). A measured frequency is taken as it is. errors:
/// InvalidArgument when frequencies are not positive.
[[nodiscard]] TransferFunctions interpolated_to(const TransferFunctions& station,
                                                const std::vector<double>& frequencies_hz);

/// ρₐ = |Z|²/(ωμ₀) in ohm m; phase = atan2 in degrees, not folded.
[[nodiscard]] double apparent_resistivity_ohm_m(Complex impedance_ohm, double frequency_hz);
[[nodiscard]] double phase_deg(Complex impedance_ohm);

}  // namespace lodestone::physics::mt
