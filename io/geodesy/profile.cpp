// SPDX-License-Identifier: Apache-2.0
#include "io/geodesy/profile.hpp"

#include "engine/core/error.hpp"
#include "io/geodesy/projection.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::geodesy {
namespace {

using physics::mt::Profile;
using physics::mt::StationData;

std::vector<GeoPoint> places_of(const std::vector<StationData>& stations) {
  std::vector<GeoPoint> points;
  for (const StationData& station : stations) {
    const physics::mt::Station& site = station.site;
    if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg)) {
      throw core::FormatError(
          "io::geodesy::profile#no_coordinates",
          "{}: expected latitude and longitude of station {}, found none; add them to the "
          "file or leave it out of the list",
          station.path, site.name);
    }
    points.push_back({site.latitude_deg, site.longitude_deg});
  }
  return points;
}

Projection projection_of(const std::string& name, const std::vector<GeoPoint>& points) {
  if (name == "local") return Projection(points);
  return name == "utm" ? Projection::utm(points) : Projection::from_definition(name);
}

void require_stations(const std::vector<StationData>& stations) {
  if (stations.empty())
    throw core::InvalidArgument("io::geodesy::profile#no_station",
                                "expected at least one station, found none");
}

/// The plane of stations and their points in it.
struct Plane {
  Projection projection;
  std::vector<std::string> names;
  std::vector<physics::mt::PlanePoint> points;
};
Plane plane_of(const std::vector<StationData>& stations, const std::string& projection_name) {
  const std::vector<GeoPoint> places = places_of(stations);
  Plane plane{projection_of(projection_name, places), {}, {}};
  require_fit(plane.projection, places);
  for (const StationData& station : stations) plane.names.push_back(station.site.name);
  plane.points = plane.projection.to_plane(places);
  return plane;
}

/// Adds how the origin of a profile or map lies on Earth.
Profile with_origin(Profile out, const Projection& projection) {
  const GeoPoint origin = projection.to_geographic({out.origin}).front();
  out.origin_latitude_deg = origin.latitude_deg;
  out.origin_longitude_deg = origin.longitude_deg;
  out.projection = projection.definition();
  return out;
}

/// Returns the map of stations whose file states x and y.
Profile as_mapped(const std::vector<StationData>& stations) {
  const physics::mt::LocalFrame& frame = *stations.front().local_frame;
  std::vector<double> x_m, y_m;
  for (const StationData& station : stations) {
    if (!station.local_frame || !station.local_frame->is_same(frame))
      throw core::InvalidArgument(
          "io::geodesy::map#other_frame",
          "expected all stations on one map, but {} of {} counts x and y from another "
          "origin than {}; read files of one survey",
          station.site.name, station.path, stations.front().path);
    x_m.push_back(station.site.x_m);
    y_m.push_back(station.site.y_m);
  }
  Profile map = physics::mt::map_along(std::move(x_m), std::move(y_m), frame.azimuth_deg);
  if (!std::isfinite(frame.latitude_deg) || !std::isfinite(frame.longitude_deg)) return map;
  const std::vector<GeoPoint> origin{{frame.latitude_deg, frame.longitude_deg}};
  const Projection projection(origin);
  map.origin = projection.to_plane(origin).front();
  return with_origin(std::move(map), projection);
}

Profile as_placed(const std::vector<StationData>& stations) {
  std::vector<double> y_m;
  for (const StationData& station : stations) {
    if (!std::isfinite(station.site.y_m)) {
      throw core::InvalidArgument(
          "io::geodesy::profile#not_on_line",
          "expected all stations along one line, but {} of {} has no place on the one "
          "of {}; read files of one kind",
          station.site.name, station.path, stations.front().path);
    }
    y_m.push_back(station.site.y_m);
  }
  return physics::mt::profile_along(std::move(y_m));
}

}  // namespace

Profile profile(const std::vector<StationData>& stations, const physics::mt::ProfileOptions& options) {
  require_stations(stations);
  if (std::isfinite(stations.front().site.y_m)) return as_placed(stations);
  const Plane plane = plane_of(stations, options.projection);
  return with_origin(physics::mt::make_profile(plane.names, plane.points, options), plane.projection);
}

Profile map(const std::vector<StationData>& stations, const physics::mt::ProfileOptions& options) {
  require_stations(stations);
  if (stations.front().local_frame) return as_mapped(stations);
  const Plane plane = plane_of(stations, options.projection);
  return with_origin(physics::mt::make_map(plane.names, plane.points, options), plane.projection);
}

}  // namespace lodestone::io::geodesy
