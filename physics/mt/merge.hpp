// SPDX-License-Identifier: Apache-2.0
// Small on purpose: selections and edits of files join bands alike.
#pragma once

#include "physics/mt/station_data.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// Joins another recording at the same place into a station, as AMT and LMT. Rows that only one has are kept.
/// At a shared frequency each element is the mean weighted by inverse squares of errors, or what one of them
/// has. Without errors of both the first counts. Rows are turned to the axes of the first where these differ.
/// errors: InvalidArgument when their inter-station functions refer to two stations; those of `rotated`.
void merge_into(StationData& first, StationData other);

/// Returns how far two stations stand apart in metres, on the sphere or where their files count x and y; NaN
/// where either has no place or they count differently.
[[nodiscard]] double distance_m(const StationData& a, const StationData& b);
/// Joins stations that are closer than this to the first of them, in the order of the first.
[[nodiscard]] std::vector<StationData> merged(std::vector<StationData> stations, double within_m);

}  // namespace lodestone::physics::mt
