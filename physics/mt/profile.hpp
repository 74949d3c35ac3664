// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/survey.hpp"
#include "physics/mt/transfer_functions.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// A point in a plane, metres.
struct PlanePoint {
  double north_m = 0.0, east_m = 0.0;
};

/// How the stations' coordinates along the profile are made.
enum class Distance {
  projected,    ///< on the profile line
  running_sum,  ///< sum of the station-to-station distances in the order given
};

struct ProfileOptions {
  std::optional<double>
      azimuth_deg;  ///< of the profile's y axis, clockwise from north; absent: best line through the stations
  std::string origin_station;  ///< y = 0 here; empty: the first station along the azimuth
  Distance distance = Distance::projected;
};

/// The stations on a profile: y along `azimuth_deg`, x (strike) along azimuth_deg − 90°, z down.
struct Profile {
  double azimuth_deg = 0.0;
  PlanePoint origin;
  std::vector<double> y_m;       ///< per station, input order
  std::vector<double> offset_m;  ///< distance from the line, positive to +x; for warnings and the report
};

/// Best line (total least squares) or the given azimuth, through the mean position. The best line's y grows
/// from the first to the last station; running sums grow along the azimuth. errors: InvalidArgument (no
/// station, one station without azimuth, unknown origin station, coincident stations with their distance).
[[nodiscard]] Profile make_profile(const std::vector<std::string>& names,
                                   const std::vector<PlanePoint>& points, const ProfileOptions& options);

/// One rule that masks data of a station (all stations when empty) in a frequency band for some quantities
/// (all when empty).
struct MaskRule {
  std::string station;
  std::vector<Quantity> quantities;
  double min_frequency_hz = 0.0, max_frequency_hz = 1e300;
};

struct DataSelection {
  std::vector<Quantity> quantities;    ///< what to invert
  std::vector<double> frequencies_hz;  ///< empty: those every station shares within `frequency_tolerance`
  double frequency_tolerance = 0.02;   ///< relative; a measured frequency further away counts as missing
  std::vector<std::string>
      interpolate_stations;  ///< stations whose own list differs, interpolated and flagged
  ErrorFloors floors;
  bool ignore_file_errors = false;  ///< σ = floor alone
  /// Folded phase (Zyx + 180°) outside: the phase datum and both parts of the complex datum are masked as
  /// out_of_quadrant; ρₐ is not, list it in `masks`.
  double min_phase_deg = -10.0, max_phase_deg = 100.0;
  std::vector<MaskRule> masks;
};

/// Observations of a survey from the stations' transfer functions, already rotated to the profile frame (x =
/// strike).
///
/// One standard deviation of a complex datum stands on each part; of log10 ρₐ it is 2σ/(|Z| ln 10), of the
/// phase σ/|Z|. Where reasons meet, the first of missing, listed, out_of_quadrant, bad_error counts. errors:
/// InvalidArgument when no usable datum is left (with what to look at), or a rule or interpolation names an
/// unknown station.
[[nodiscard]] ObservedData make_observed_data(const std::vector<TransferFunctions>& stations,
                                              const Profile& profile, const DataSelection& selection);

/// Counts by quantity and reason, as a table.
[[nodiscard]] std::string mask_table(const ObservedData& data);

/// What is odd about masked data, in sentences that say what to look at: stations without a usable datum, by
/// name and reason (those that mask rules take whole are left out); more than 12 % masked at the others.
/// Empty where all is well.
[[nodiscard]] std::vector<std::string> mask_warnings(const ObservedData& data);

}  // namespace lodestone::physics::mt
