// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/observations.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Apparent resistivities and phases of both modes.
inline const std::vector<Datum> rho_and_phase{datum("log10_rho_xy"), datum("phase_xy"), datum("log10_rho_yx"),
                                              datum("phase_yx")};

/// A part of the data. Every member narrows it; a default member does not.
struct Where {
  std::string station{};
  std::vector<Datum> data{};
  std::optional<Mode> mode{};
  double min_frequency_hz = 0.0, max_frequency_hz = 1e300;
  std::string place{};  ///< "file:line: key" of its station in a configuration, for messages

  [[nodiscard]] bool contains(const StationData& station, Datum datum, double frequency_hz) const;
};

/// Least error of one kind of data. units of `floor`: share of |Z| for impedances (of √|Zxy Zyx| for Zxx and
/// Zyy), decades for log10 ρₐ, degrees for phases; absolute for tippers and phase tensors.
struct FloorRule {
  FloorKind kind{};
  double floor = 0.0;
  Where where{};
};
[[nodiscard]] std::vector<FloorRule> floor_rules(const ErrorFloors& floors);
/// Returns the floors that hold for all stations and frequencies: of each kind that of the last such rule, 0
/// without one.
[[nodiscard]] ErrorFloors general_floors(const std::vector<FloorRule>& rules);

/// The rule by which the frequencies of a survey are chosen.
enum class FrequencyChoice {
  shared,  ///< those of all stations, within the tolerance
  all,     ///< those of any station
  listed   ///< those of `Selection::frequencies_hz`
};
constexpr auto words(FrequencyChoice) {
  using enum FrequencyChoice;
  return core::Words<FrequencyChoice>{{shared, "shared"}, {all, "all"}, {listed, "listed"}};
}

/// The data that are taken from stations.
struct Selection {
  std::vector<Datum> data{};
  std::vector<Mode> modes{};  ///< data of other modes, or of both, are left out; empty: all modes
  double min_period_s = 0.0, max_period_s = 1e300;
  FrequencyChoice frequencies = FrequencyChoice::shared;
  std::vector<double> frequencies_hz{};
  /// Number of frequencies left to each station in every decade that it measured, of shared ones or those of
  /// any station; 0: all.
  double frequencies_per_decade = 0.0;
  double frequency_tolerance = 0.02;  ///< relative; a measured frequency further away counts as missing
  std::vector<std::string> interpolate_stations{};  ///< their rows are interpolated to the frequencies
  /// Azimuth of the x axis of the data; absent: perpendicular to the line, that of its y axis − 90°.
  std::optional<double> strike_deg{};
  double declination_deg = 0.0;  ///< added to azimuths of channels that files count from magnetic north
  std::vector<FloorRule> floors = floor_rules({});  ///< the last one that contains a datum applies
  bool ignore_file_errors = false;                  ///< σ = floor alone
  std::vector<Where> masks{};
  double min_phase_deg = -10.0, max_phase_deg = 100.0;  ///< folded phases, see MaskReason::out_of_quadrant
  bool limits_te_phases = true;      ///< false beside a sea, where phases of TE leave their quadrant
  bool keeps_without_error = false;  ///< data for files that have a mark of no error
  double same_place_m = 1.0;         ///< stations closer than this are bands of one station; 0: none are
};

/// Makes observations from stations: merges bands of coincident stations, limits periods, rotates once,
/// chooses frequencies, evaluates data, applies floors and assigns reasons, in this order.
///
/// Stations that are merged count once in the profile of the result. A `Reading` takes precedence over
/// elements. Of several reasons the first of missing, listed, out_of_quadrant and bad_error counts. shapes:
/// one place of `profile` per station. Elements that rotation loses, as those of Zxy and Zyx alone, give rise
/// to a warning. errors: InvalidArgument when no usable datum is left, which names such a loss, or a rule
/// names an unknown station; ShapeError.
[[nodiscard]] Observations select(const std::vector<StationData>& stations, const Profile& profile,
                                  const Selection& selection);

/// Returns all that stations state: parts of elements and readings at every frequency of a station, σ as
/// stated (NaN: not stated), without floors, limits and merging. Their frame is the local one of the first
/// station, that of north where it has none. Data without a positive σ are masked as bad_error.
[[nodiscard]] Observations stated_data(const std::vector<StationData>& stations);

/// Returns whether a datum follows from elements of its station that state it only together, and is not
/// stated itself.
[[nodiscard]] bool is_derived(const Observations& data, const DatumKey& key);

}  // namespace lodestone::physics::mt
