// SPDX-License-Identifier: Apache-2.0
// Small on purpose: selections and edits of files join bands alike.
#pragma once

#include "physics/mt/station_data.hpp"

#include <functional>
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

/// The agreement of two recordings that are about to be merged.
struct Agreement {
  /// χ² per part beyond which values differ by more than their errors allow: twice these, on average.
  static constexpr double largest_chi2 = 4.0;

  double distance_m = not_given;
  int n_shared = 0;         ///< periods that both have
  double chi2 = not_given;  ///< χ² per part of the elements that both have with errors; NaN: there is none
  std::vector<double> contradicting_s{};  ///< periods beyond `largest_chi2`, the shortest first
};
/// Compares two recordings in the axes of the first: squares of the differences over the sum of both
/// variances. errors: those of `rotated`.
[[nodiscard]] Agreement agreement_of(const StationData& first, const StationData& other);

/// Gets the station that stays, and the one that is merged into it next.
using OnMerged = std::function<void(const StationData& first, const StationData& other)>;
/// Joins stations that are closer than this to the first of them, in the order of the first. errors: those of
/// `merge_into`.
[[nodiscard]] std::vector<StationData> merged(std::vector<StationData> stations, double within_m,
                                              const OnMerged& on_merged = {});

}  // namespace lodestone::physics::mt
