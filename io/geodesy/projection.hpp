// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/profile.hpp"

#include <memory>
#include <string>
#include <vector>

namespace lodestone::io::geodesy {

/// Latitude and longitude in degrees, WGS84.
struct GeoPoint {
  double latitude_deg = 0.0, longitude_deg = 0.0;
};

/// A map projection between WGS84 and metres north and east, both ways.
class Projection {
 public:
  /// Makes a transverse Mercator with unit scale, centred on the points' mean position (the survey's own
  /// plane). errors: InvalidArgument.
  explicit Projection(const std::vector<GeoPoint>& points);
  /// Returns the zone of Universal Transverse Mercator that holds the points' mean position.
  static Projection utm(const std::vector<GeoPoint>& points);
  /// Makes any projected system of PROJ: "EPSG:32733", "+proj=…". errors: ConfigError.
  static Projection from_definition(const std::string& definition);
  ~Projection();
  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;

  /// Projects points. errors: InvalidArgument that names a point without an image.
  [[nodiscard]] std::vector<physics::mt::PlanePoint> to_plane(const std::vector<GeoPoint>& points) const;
  [[nodiscard]] std::vector<GeoPoint> to_geographic(const std::vector<physics::mt::PlanePoint>& points) const;
  /// Returns the definition that PROJ received; it is stored with results.
  [[nodiscard]] const std::string& definition() const;

 private:
  struct Impl;
  explicit Projection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Refuses a projection that does not fit points: its scale is off by more than 3 %, or its north lies more
/// than 20 degrees from that of the globe. errors: ConfigError that names the point, scale and turn.
void require_fit(const Projection& projection, const std::vector<GeoPoint>& points);

/// Returns the great-circle distance on a sphere of 6371 km.
[[nodiscard]] double great_circle_distance_m(const GeoPoint& a, const GeoPoint& b);

}  // namespace lodestone::io::geodesy
