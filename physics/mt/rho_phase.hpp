// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/element.hpp"

#include <cmath>
#include <vector>

namespace lodestone::physics::mt {

/// A complex number of a file with the standard deviation of each of its parts. NaN: missing.
struct Estimate {
  Complex value{not_given, not_given};
  double sigma = not_given;
  [[nodiscard]] bool is_missing() const {
    return !(std::isfinite(value.real()) && std::isfinite(value.imag()));
  }
};

/// One apparent resistivity and phase as files state them, with their standard errors. units: ohm m and
/// degrees. NaN: missing.
struct RhoPhase {
  double rho_ohm_m = not_given, phase_deg = not_given;
  double rho_error_ohm_m = not_given, phase_error_deg = not_given;
};

/// Returns the impedance in mV/km/nT, |Z| = √(5 ρₐ f). σ of each part is the larger of |Z| σ_ρ/(2ρₐ) and
/// |Z| σ_φ. A resistivity that is not above 0 is missing.
[[nodiscard]] Estimate impedance_of(const RhoPhase& stated, double frequency_hz);

/// Returns true when most phases of Zyx stand in the first quadrant: written folded by +180°.
[[nodiscard]] bool is_folded(const std::vector<double>& phases_deg);

}  // namespace lodestone::physics::mt
