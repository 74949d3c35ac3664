// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/rho_phase.hpp"

#include "physics/mt/units.hpp"

namespace lodestone::physics::mt {

Estimate impedance_of(const RhoPhase& stated, double frequency_hz) {
  const auto [rho, phase_deg, rho_error, phase_error_deg] = stated;
  if (!(rho > 0.0) || !std::isfinite(phase_deg) || !(frequency_hz > 0.0)) return {};
  const double modulus = std::sqrt(5.0 * rho * frequency_hz);
  const double from_rho = rho_error > 0.0 ? 0.5 * modulus * rho_error / rho : not_given;
  const double from_phase = phase_error_deg > 0.0 ? modulus * phase_error_deg / deg_per_rad : not_given;
  return {std::polar(modulus, phase_deg / deg_per_rad), std::fmax(from_rho, from_phase)};
}

bool is_folded(const std::vector<double>& phases_deg) {
  std::size_t first = 0, known = 0;
  for (const double p : phases_deg) {
    if (!std::isfinite(p)) continue;
    ++known;
    if (p >= 0.0 && p <= 90.0) ++first;
  }
  return 2 * first > known;
}

}  // namespace lodestone::physics::mt
