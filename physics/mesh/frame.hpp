// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mesh/shapes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mesh {

/// A place on the globe, WGS84.
struct Geographic {
  double latitude_deg = 0.0, longitude_deg = 0.0;
};

/// A station or another named place.
struct Site {
  std::string name;
  Point at{};  ///< in the frame of the survey; x of a profile: its distance from the line
  std::optional<Geographic> geographic{};  ///< absent: not given
  std::optional<double> elevation_m{};     ///< above sea level; absent: not given
};

/// A place on the map: coordinates of the projection, and metres above sea level.
struct MapPlace {
  double east_m = 0.0, north_m = 0.0, elevation_m = 0.0;
  friend bool operator==(const MapPlace&, const MapPlace&) = default;
};

/// A bend of a line of stations: a distance along it, and its place on the map.
struct Bend {
  double y_m = 0.0, north_m = 0.0, east_m = 0.0;
};

/// The way in which the coordinates x, y, z of a survey lie on the map. Its y axis points along the azimuth,
/// its x axis 90° to the left of that (azimuth 90°: x north, y east), z down.
struct Frame {
  std::string projection{};  ///< text for PROJ; empty: the place on the map is not known
  double origin_north_m = 0.0, origin_east_m = 0.0;
  double azimuth_deg = 90.0;  ///< direction of the y axis, clockwise from north
  double elevation_m = 0.0;   ///< height of z = 0 above sea level
  /// A bent line: y follows it, straight beyond its ends, and x is
  /// perpendicular to its pieces; origin and azimuth have no effect. Empty: a straight line.
  std::vector<Bend> bends{};
  [[nodiscard]] bool is_on_map() const { return !projection.empty(); }
};

/// Checks a frame. errors: InvalidArgument when a number is not finite, or bends are fewer than two or do not
/// increase in y.
void check(const Frame& frame);

/// Returns the place of a point on the map. Requires a frame that passes `check`.
[[nodiscard]] MapPlace on_map(const Frame& frame, const Point& point);
/// Returns the point at a place on the map; along bends, the nearest one of the line. Requires a frame that
/// passes `check`.
[[nodiscard]] Point from_map(const Frame& frame, const MapPlace& place);

/// Writes a frame to the group "frame".
void write(core::ArraySink& sink, const Frame& frame);
/// Reads the frame of the group "frame". errors: FormatError.
[[nodiscard]] Frame read_frame(const core::ArraySource& source);

}  // namespace lodestone::physics::mesh
