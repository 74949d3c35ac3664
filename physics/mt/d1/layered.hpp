// SPDX-License-Identifier: Apache-2.0
// Small on purpose: closed forms need no map and no Jacobian.
#pragma once

#include <complex>
#include <vector>

namespace lodestone::physics::mt::d1 {

/// A horizontally layered earth, last layer a half-space. shapes: resistivity (n), thickness (n − 1).
struct LayeredEarth {
  std::vector<double> resistivity_ohm_m;
  std::vector<double> thickness_m;
};

/// Returns the surface impedance Z = E_x/H_y. units: ohm. sign: e^{+iωt} (phase 0…90°).
/// errors: InvalidArgument on non-positive values, ShapeError. A last layer ≤ 1e-5 ohm m is a perfect
/// conductor. source: Wait 1954 recursion, written with exp(−2kh) so that it cannot overflow.
[[nodiscard]] std::complex<double> layered_impedance(const LayeredEarth& earth, double frequency_hz);

/// Impedance with its derivatives with respect to ln ρ of each layer (n) and to each thickness in metres (n −
/// 1).
struct LayeredResponse {
  std::complex<double> impedance_ohm;
  std::vector<std::complex<double>> d_ln_resistivity, d_thickness;
};
[[nodiscard]] LayeredResponse layered_response(const LayeredEarth& earth, double frequency_hz);

}  // namespace lodestone::physics::mt::d1
