// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::geodesy {

/// The choices of `profile`.
struct ProfileOptions {
  /// Azimuth of the y axis, clockwise from north; absent: the best line through the stations.
  std::optional<double> azimuth_deg{};
  std::string origin{};  ///< station at y = 0; empty: the first one along the azimuth
  physics::mt::Distance distance = physics::mt::Distance::projected;
  std::string projection = "local";  ///< "local", "utm", or a definition for PROJ ("EPSG:32733")
};

/// Returns the profile on which stations stand. Those of latitude and longitude are projected to a plane and
/// onto a line. Those that their file places along a line keep their places, with x to the north from which
/// its azimuths count; `options` has no effect on them.
///
/// errors: FormatError with the station that has no place, InvalidArgument when only some are placed along a
/// line; those of mt::make_profile and Projection.
[[nodiscard]] physics::mt::Profile profile(const std::vector<physics::mt::StationData>& stations,
                                           const ProfileOptions& options = {});

}  // namespace lodestone::io::geodesy
