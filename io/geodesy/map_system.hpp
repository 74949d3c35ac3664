// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/geodesy/projection.hpp"
#include "physics/mesh/frame.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::geodesy {

/// The coordinates in which a file states the points of a model: those of its own frame, those of a
/// projection, or degrees.
class MapSystem {
 public:
  /// Makes the system of a frame itself: east is y, north is x, elevation is −z.
  MapSystem() = default;
  /// Makes a system of the map. `definition`: a projected system in metres for PROJ, or "EPSG:4326" for
  /// degrees, in which places have longitudes as east and latitudes as north. errors: InvalidArgument for a
  /// frame that has no place on the map; ConfigError for another system.
  MapSystem(physics::mesh::Frame frame, const std::string& definition);

  [[nodiscard]] bool is_local() const { return definition_.empty(); }
  [[nodiscard]] bool is_geographic() const;
  /// Returns the text for PROJ; empty where the system is local.
  [[nodiscard]] const std::string& definition() const { return definition_; }
  /// Returns the places of points of the frame. errors: InvalidArgument for a point without an image.
  [[nodiscard]] std::vector<physics::mesh::MapPlace> places(
      const std::vector<physics::mesh::Point>& points) const;
  /// Returns the points at places. errors: likewise.
  [[nodiscard]] std::vector<physics::mesh::Point> points(
      const std::vector<physics::mesh::MapPlace>& places) const;

 private:
  [[nodiscard]] std::vector<GeoPoint> on_globe(const std::vector<physics::mesh::MapPlace>& in_frame) const;

  physics::mesh::Frame frame_{};
  std::string definition_{};
  std::optional<Projection> of_frame_{}, of_file_{};  ///< absent: not needed
};

/// Returns the frame whose x = y = z = 0 is this place: x north and y east where the azimuth of y is 90. Its
/// plane is that of `Projection` around the place. errors: InvalidArgument for no place on the globe.
[[nodiscard]] physics::mesh::Frame frame_at(const GeoPoint& origin, double elevation_m, double azimuth_deg);

}  // namespace lodestone::io::geodesy
