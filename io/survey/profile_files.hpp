// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers of files need no profile, and other writers neither.
#pragma once

#include "io/survey/write.hpp"
#include "physics/mt/observations.hpp"

#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Stations along a profile as files of such data hold them.
struct ProfileData {
  physics::mt::Observations data;  ///< kept: held by the format
  std::string title;               ///< azimuths of profile and strike, where they are known
  std::vector<std::string> lost;   ///< content without a place in the format, in words
};

/// Places stations on a profile, turns impedances and tippers to its strike, and masks what the format has no
/// place for. Stations that their file places along a line keep their places; those on a map are projected.
///
/// Occam2D holds no impedances: they become apparent resistivities and phases with errors to first order.
/// ModEM's 2-D files hold neither of TE, which become impedances, with the larger of both errors. Elevations
/// become depths below sea level for MARE2DEM. It and Occam2D hold no data without an error. errors:
/// InvalidArgument for a choice of the profile where stations stand along a line already; those of
/// geodesy::profile and mt::make_profile.
[[nodiscard]] ProfileData profile_data(const std::vector<physics::mt::StationData>& stations,
                                       WriteFormat format, const Placing& placing);

}  // namespace lodestone::io::survey
