// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// A point in a plane, metres.
struct PlanePoint {
  double north_m = 0.0, east_m = 0.0;
};

/// The rule by which the stations' coordinates along the profile are made.
enum class Distance {
  projected,    ///< on the profile line
  running_sum,  ///< sum of the station-to-station distances in the order given
};
constexpr auto words(Distance) {
  using enum Distance;
  return core::Words<Distance>{{projected, "projected"}, {running_sum, "running_sum"}};
}

/// The rule by which the x axis of a section is chosen.
enum class StrikeChoice {
  across_line,  ///< perpendicular to the line of the stations
  from_data,    ///< the strike of impedances or phase tensors, of both azimuths the one nearer to that
};
constexpr auto words(StrikeChoice) {
  using enum StrikeChoice;
  return core::Words<StrikeChoice>{{across_line, "across_line"}, {from_data, "from_data"}};
}

/// The choices of a profile.
struct ProfileOptions {
  /// Azimuth of the y axis, clockwise from north; absent: the best line through the stations, 0 to 180°.
  std::optional<double> azimuth_deg{};
  /// Azimuth of the x axis, along strike; absent: as `strike` says. Where it is not perpendicular to the best
  /// line and no azimuth is given, y runs across it, and stations are projected along it.
  std::optional<double> strike_deg{};
  StrikeChoice strike = StrikeChoice::across_line;
  std::string origin{};  ///< station at y = 0; empty: the first one along the azimuth
  Distance distance = Distance::projected;
  /// Plane of stations with latitude and longitude: "local", "utm", or a definition for PROJ ("EPSG:32733").
  /// `make_profile` takes points of a plane and has no use for it.
  std::string projection = "local";
};

/// The stations on a profile or a map: y along `azimuth_deg`, x along azimuth_deg − 90°, z down.
struct Profile {
  double azimuth_deg = 0.0;
  PlanePoint origin;
  std::vector<double> y_m;           ///< per station, input order
  std::vector<double> offset_m;      ///< x of each: on a profile the distance from the line
  std::vector<PlanePoint> points{};  ///< per station; empty: their places on the map are not known
  std::string projection{};          ///< text for PROJ in which origin and points stand; empty: not known
  double origin_latitude_deg = 0.0, origin_longitude_deg = 0.0;  ///< 0 where the projection is not known
  Distance distance = Distance::projected;                       ///< the rule by which y_m was made
  bool is_map = false;                                           ///< x of the stations counts as y does

  /// Returns the profile of some of the stations, in the order of their indices.
  [[nodiscard]] Profile of(const std::vector<std::size_t>& stations) const;
};

/// Returns the index of the station that `what` names. `place`: component and id of the error. errors:
/// InvalidArgument with the nearest name.
[[nodiscard]] std::size_t index_of_station(const std::vector<std::string>& names, const std::string& name,
                                           const char* place, const std::string& what);

/// Returns the profile of stations whose places along a line are known: its y axis points to 90°, so that x
/// is the north from which their azimuths count.
[[nodiscard]] Profile profile_along(std::vector<double> y_m);

/// Returns the map of stations whose places are known, with its x axis along an azimuth. shapes: equal.
[[nodiscard]] Profile map_along(std::vector<double> x_m, std::vector<double> y_m, double x_azimuth_deg);
/// Returns the map of points. Its y axis has the azimuth of the options, 90° unless given, and its origin is
/// their station, the mean position unless given. errors: InvalidArgument on running sums, no station, an
/// unknown origin station or no coordinates.
[[nodiscard]] Profile make_map(const std::vector<std::string>& names, const std::vector<PlanePoint>& points,
                               const ProfileOptions& options);

/// Returns the best line (total least squares) or the one of the given azimuth, through the mean position.
/// The best line's azimuth lies from 0 to 180°, whatever the order of the stations: y grows to the east,
/// along a meridian to the north. Running sums grow along the azimuth. Stations may stand at one place, as
/// bands of one recording do. errors: InvalidArgument (no station, one place without azimuth, unknown origin
/// station, no coordinates).
[[nodiscard]] Profile make_profile(const std::vector<std::string>& names,
                                   const std::vector<PlanePoint>& points, const ProfileOptions& options);

}  // namespace lodestone::physics::mt
