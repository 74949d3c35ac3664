// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the periods of maps and of sections over period, chosen from what stations measured.
#pragma once

#include "physics/mt/station_data.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// Returns periods evenly apart in their logarithm, from the shortest to the longest of any row. units: s.
[[nodiscard]] std::vector<double> even_periods(const std::vector<StationData>& stations, int per_decade);

/// Returns at most so many periods at which maps show most stations, the shortest first: decades within the
/// band that at least half as many stations cover as the best period has. Where these are less than three
/// they are 1, 3 and 10 of each decade, or the middle of the band. units: s. Empty without rows.
[[nodiscard]] std::vector<double> map_periods(const std::vector<StationData>& stations, std::size_t most);

}  // namespace lodestone::physics::mt
