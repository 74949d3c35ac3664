// SPDX-License-Identifier: Apache-2.0
#include "io/geodesy/map_system.hpp"

#include "engine/core/error.hpp"

#include <utility>

namespace lodestone::io::geodesy {
namespace {

using physics::mesh::MapPlace;
using physics::mesh::Point;

constexpr std::string_view degrees = "EPSG:4326";

std::vector<physics::mt::PlanePoint> plane_points(const std::vector<MapPlace>& places) {
  std::vector<physics::mt::PlanePoint> plane;
  for (const MapPlace& place : places) plane.push_back({place.north_m, place.east_m});
  return plane;
}

}  // namespace

MapSystem::MapSystem(physics::mesh::Frame frame, const std::string& definition)
    : frame_(std::move(frame)), definition_(definition) {
  if (!frame_.is_on_map())
    throw core::InvalidArgument(
        "io::geodesy::MapSystem#no_place_on_map",
        "expected a model with a place on the map for coordinates in {}, but its file states none; give the "
        "latitude and longitude of its origin (--origin LAT,LON)",
        definition);
  if (definition == frame_.projection) return;
  of_frame_ = Projection::from_definition(frame_.projection);
  if (!is_geographic()) of_file_ = Projection::from_definition(definition);
}

bool MapSystem::is_geographic() const { return definition_ == degrees; }

std::vector<GeoPoint> MapSystem::on_globe(const std::vector<MapPlace>& in_frame) const {
  return of_frame_->to_geographic(plane_points(in_frame));
}

std::vector<MapPlace> MapSystem::places(const std::vector<Point>& points) const {
  std::vector<MapPlace> places;
  for (const Point& point : points)
    places.push_back(is_local() ? MapPlace{point.y_m, point.x_m, -point.z_m} : on_map(frame_, point));
  if (!of_frame_) return places;
  const std::vector<GeoPoint> globe = on_globe(places);
  if (is_geographic()) {
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = {globe[i].longitude_deg, globe[i].latitude_deg, places[i].elevation_m};
    return places;
  }
  const auto plane = of_file_->to_plane(globe);
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = {plane[i].east_m, plane[i].north_m, places[i].elevation_m};
  return places;
}

std::vector<Point> MapSystem::points(const std::vector<MapPlace>& places) const {
  std::vector<MapPlace> in_frame = places;
  if (of_frame_) {
    std::vector<GeoPoint> globe;
    if (of_file_)
      globe = of_file_->to_geographic(plane_points(places));
    else
      for (const MapPlace& place : places) globe.push_back({place.north_m, place.east_m});
    const auto plane = of_frame_->to_plane(globe);
    for (std::size_t i = 0; i < places.size(); ++i)
      in_frame[i] = {plane[i].east_m, plane[i].north_m, places[i].elevation_m};
  }
  std::vector<Point> points;
  for (const MapPlace& place : in_frame)
    points.push_back(is_local() ? Point{place.north_m, place.east_m, -place.elevation_m}
                                : from_map(frame_, place));
  return points;
}

physics::mesh::Frame frame_at(const GeoPoint& origin, double elevation_m, double azimuth_deg) {
  const Projection projection({origin});
  const auto plane = projection.to_plane({origin}).front();
  return {.projection = projection.definition(),
          .origin_north_m = plane.north_m,
          .origin_east_m = plane.east_m,
          .azimuth_deg = azimuth_deg,
          .elevation_m = elevation_m};
}

}  // namespace lodestone::io::geodesy
