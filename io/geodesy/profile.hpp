// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who places stations on a profile needs no type of projection.hpp.
#pragma once

#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <vector>

namespace lodestone::io::geodesy {

/// Returns the profile on which stations stand. Those of latitude and longitude are projected to a plane and
/// onto a line. Those that their file places along a line keep their places, with x to the north from which
/// its azimuths count; `options` has no effect on them.
///
/// errors: FormatError with the station that has no place, InvalidArgument when only some are placed along a
/// line; those of mt::make_profile and Projection.
[[nodiscard]] physics::mt::Profile profile(const std::vector<physics::mt::StationData>& stations,
                                           const physics::mt::ProfileOptions& options = {});

/// Returns the map on which stations stand. Those of latitude and longitude are projected to a plane. Those
/// whose file states x and y keep them, and `options` has no effect on them.
///
/// errors: FormatError with the station that has no place; those of mt::make_map and Projection.
/// InvalidArgument when only some stations have x and y, or two count from different origins.
[[nodiscard]] physics::mt::Profile map(const std::vector<physics::mt::StationData>& stations,
                                       const physics::mt::ProfileOptions& options = {});

}  // namespace lodestone::io::geodesy
