// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the summary of a survey; strike and dimensionality themselves know no bands.
#pragma once

#include "physics/mt/analysis/dimensionality.hpp"
#include "physics/mt/analysis/strike.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// The dimension and the strike of a survey within one band of periods.
struct StrikeBand {
  double min_period_s = 0.0, max_period_s = 0.0;  ///< the second one is left out
  DimensionalityCounts dimension{};
  std::optional<Strike> strike{};                   ///< strike of all stations together
  std::optional<TipperStrike> tipper{};             ///< strike of their tippers
  std::vector<Strike> of_stations{};                ///< strike of each station where it is determined
  std::vector<TipperStrike> tippers_of_stations{};  ///< strike of the tippers of each station that has some
};

/// Returns the strike of impedances; where stations have none, that of the phase tensors that files state.
[[nodiscard]] std::optional<Strike> strike_of_data(const std::vector<StationData>& stations,
                                                   const StrikeOptions& options = {});

/// Returns the bands of one decade each, from 10^k to 10^{k+1} s, that have a complete impedance, a phase
/// tensor or a tipper. Phase tensors that files state count where there are no impedances. errors: those of
/// `rotated`.
[[nodiscard]] std::vector<StrikeBand> strike_bands(const std::vector<StationData>& stations);

/// Returns a strike in words, "34 or 124 ± 5" degrees; "any" where it is not determined, "" without one.
[[nodiscard]] std::string in_words(const std::optional<Strike>& strike);

}  // namespace lodestone::physics::mt
