// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers of files need neither profile nor selection.
#pragma once

#include "io/geodesy/profile.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/selection.hpp"

#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Places stations on a profile and selects data; logs profile, strike, merged bands, masks
/// and the remarks of readers. A strike of the line's options goes before that of the selection. errors:
/// those of geodesy::profile and mt::select.
[[nodiscard]] physics::mt::Observations observe(const std::vector<physics::mt::StationData>& stations,
                                                const physics::mt::ProfileOptions& line,
                                                const physics::mt::Selection& selection = {
                                                    .data = physics::mt::rho_and_phase});
/// Places stations on a map and does the same. errors: those of geodesy::map and mt::select.
[[nodiscard]] physics::mt::Observations observe_on_map(const std::vector<physics::mt::StationData>& stations,
                                                       const physics::mt::ProfileOptions& map,
                                                       const physics::mt::Selection& selection);
/// Reads the stations of a file or folder and does the same. The data are apparent resistivities and phases
/// unless the selection states others. errors: also those of `read`.
[[nodiscard]] physics::mt::Observations observe(const std::string& path,
                                                const physics::mt::ProfileOptions& line = {},
                                                const physics::mt::Selection& selection = {
                                                    .data = physics::mt::rho_and_phase});

}  // namespace lodestone::io::survey
