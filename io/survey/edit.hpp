// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/selection.hpp"
#include "physics/mt/station_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Edits of stations, made in this order. A default member does nothing.
struct Edits {
  std::vector<std::string> sites{};  ///< only these, in this order
  double min_period_s = 0.0, max_period_s = 1e300;
  std::vector<physics::mt::Where> unmasks{};     ///< masked values that are taken back
  std::vector<physics::mt::Where> masks{};       ///< values that are masked, after that
  double merge_within_m = 0.0;                   ///< stations closer than this become one; 0: none do
  double declination_deg = 0.0;                  ///< added to the azimuths of all channels
  std::optional<double> azimuth_deg{};           ///< x axis to which all tensors are rotated
  std::vector<physics::mt::FloorRule> floors{};  ///< least errors, of elements and readings at all sites
};

/// Edits stations, each of which notes in its changes what was done. Stations without a value are left out,
/// unless values of theirs are masked. The log tells of what is merged, of contradictions and of masks
/// without effect. errors: ConfigError for a site or a floor of which stations have no datum; InvalidArgument
/// where nothing is left and for channels that are parallel.
[[nodiscard]] std::vector<physics::mt::StationData> edited(std::vector<physics::mt::StationData> stations,
                                                           const Edits& edits);

}  // namespace lodestone::io::survey
