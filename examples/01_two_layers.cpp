// SPDX-License-Identifier: Apache-2.0
// What this shows: the first forward response: two layers go through a simulation, which is a map from log10
// resistivities to data, and are compared with the analytic answer.
//
// Equation: Z = Z₁ (1 + r e^(−2kh)) / (1 − r e^(−2kh)) with k = √(iωμ0/ρ₁) and r = (Z₂ − Z₁) / (Z₂ + Z₁),
// where Z_j = √(iωμ0 ρ_j)
//
// Sample run: 01_two_layers
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace core = lodestone::core;
namespace mt = lodestone::physics::mt;

namespace {

constexpr double top_ohm_m = 100.0, bottom_ohm_m = 10.0, thickness_m = 1000.0;

/// Returns the impedance of the two layers in closed form.
std::complex<double> analytic_impedance_ohm(double frequency_hz) {
  const std::complex<double> i_omega_mu(0.0, mt::omega(frequency_hz) * mt::mu0);
  const std::complex<double> top = std::sqrt(i_omega_mu * top_ohm_m),
                             bottom = std::sqrt(i_omega_mu * bottom_ohm_m);
  const std::complex<double> echo =
      (bottom - top) / (bottom + top) * std::exp(-2.0 * std::sqrt(i_omega_mu / top_ohm_m) * thickness_m);
  return top * (1.0 + echo) / (1.0 - echo);
}

}  // namespace

int main() {
  const std::vector<double> frequencies_hz{100.0, 10.0, 1.0, 0.1, 0.01};
  const mt::Survey survey =
      mt::full_survey({{"site"}}, frequencies_hz, {mt::datum("log10_rho_xy"), mt::datum("phase_xy")});
  const core::MapPtr map = mt::d1::data_map({thickness_m}, survey);
  const Eigen::VectorXd data = map->value(Eigen::Vector2d(std::log10(top_ohm_m), std::log10(bottom_ohm_m)));

  const auto n = static_cast<Eigen::Index>(frequencies_hz.size());
  double largest_gap = 0.0;
  fmt::print("{:>12} {:>12} {:>12}\n", "frequency_hz", "rho_a_ohm_m", "phase_deg");
  for (Eigen::Index i = 0; i < n; ++i) {
    const double frequency_hz = frequencies_hz[static_cast<std::size_t>(i)];
    const std::complex<double> z = analytic_impedance_ohm(frequency_hz);
    const double log10_rho = std::log10(std::norm(z) / (mt::omega(frequency_hz) * mt::mu0));
    fmt::print("{:>12g} {:>12.2f} {:>12.2f}\n", frequency_hz, std::pow(10.0, data[i]),
               data[n + i] * mt::deg_per_rad);
    largest_gap = std::max({largest_gap, std::abs(data[i] - log10_rho), std::abs(data[n + i] - std::arg(z))});
  }
  fmt::print("largest difference from the analytic answer: {:.1e} decades or radian\n", largest_gap);
  return largest_gap < 1e-10 ? 0 : 1;
}
