// SPDX-License-Identifier: Apache-2.0
// What this shows: the magnetotelluric response of a layered earth, in a few lines.
//
// Equation: apparent resistivity |Z|²/(ω μ0), phase arg Z, with Z from Wait's recursion
//
// Sample run: 02_layered_earth
//
// Builds on: 01_two_layers
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/units.hpp"

#include <fmt/core.h>

#include <cmath>
#include <complex>

namespace mt = lodestone::physics::mt;

int main() {
  const mt::d1::LayeredEarth earth{.resistivity_ohm_m = {100.0, 10.0, 1000.0},
                                   .thickness_m = {500.0, 2000.0}};
  fmt::print("{:>10} {:>12} {:>12}\n", "period_s", "rho_a_ohm_m", "phase_deg");
  for (int decade = -3; decade <= 3; ++decade) {
    const double period_s = std::pow(10.0, decade);
    const std::complex<double> impedance = mt::d1::layered_impedance(earth, 1.0 / period_s);
    const double apparent_resistivity = std::norm(impedance) / (mt::omega(1.0 / period_s) * mt::mu0);
    fmt::print("{:>10g} {:>12.2f} {:>12.2f}\n", period_s, apparent_resistivity,
               std::arg(impedance) * mt::deg_per_rad);
  }
  return 0;
}
