// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the parts of the page of a survey that are tables.
#pragma once

#include "io/report/survey_places.hpp"
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/sounding_bands.hpp"
#include "physics/mt/analysis/strike_bands.hpp"

#include <string>
#include <vector>

namespace lodestone::io::report {

/// Returns counts of the whole survey: stations, periods, what they hold, findings.
[[nodiscard]] std::string survey_summary(const std::vector<physics::mt::StationData>& stations,
                                         const std::vector<physics::mt::Finding>& findings);
/// Returns a row per station: place, periods, what it holds, dimension, findings by severity.
[[nodiscard]] std::string survey_stations(const std::vector<physics::mt::StationData>& stations,
                                          const SurveyMap& map,
                                          const std::vector<physics::mt::Finding>& findings);
/// Returns a row per finding, in the order of `check`.
[[nodiscard]] std::string findings_table(const std::vector<physics::mt::Finding>& findings);
/// Returns a row per band of periods: medians of the determinant, its depths, skews; empty without any.
[[nodiscard]] std::string sounding_bands_table(const std::vector<physics::mt::SoundingBand>& bands);
/// Returns a row per band of periods: dimension, skew and strike.
[[nodiscard]] std::string bands_table(const std::vector<physics::mt::StrikeBand>& bands);

}  // namespace lodestone::io::report
