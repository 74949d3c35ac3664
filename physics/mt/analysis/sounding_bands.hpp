// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a summary of invariants, which know no bands.
#pragma once

#include "physics/mt/station_data.hpp"

#include <array>
#include <vector>

namespace lodestone::physics::mt {

/// Medians, over the impedances of a survey within one band of periods, of numbers that no rotation changes.
struct SoundingBand {
  double min_period_s = 0.0, max_period_s = 0.0;  ///< the second one is left out
  int n_tensors = 0;                              ///< complete impedances
  double rho_det_ohm_m = not_given, phase_det_deg = not_given;
  double rho_ssq_ohm_m = not_given, phase_ssq_deg = not_given;
  /// Depths of the determinants by Niblett and Bostick: a tenth of them are shallower, and a tenth deeper.
  double shallow_m = not_given, deep_m = not_given;
  double swift_skew = not_given, bahr_skew = not_given;
  std::array<double, 7> weaver{};  ///< I1 to I7 of `Invariants`
};

/// Returns the bands of one decade each, from 10^k to 10^{k+1} s, that have a complete impedance.
[[nodiscard]] std::vector<SoundingBand> sounding_bands(const std::vector<StationData>& stations);

}  // namespace lodestone::physics::mt
