// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/frame.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lodestone::physics::mesh {
namespace {

constexpr double deg_per_rad = 180.0 / std::numbers::pi;

/// The direction of the y axis on the map.
struct Direction {
  double north, east;
};
Direction direction_of(double azimuth_deg) {
  return {std::cos(azimuth_deg / deg_per_rad), std::sin(azimuth_deg / deg_per_rad)};
}
Direction direction_of(const Bend& from, const Bend& to) {
  const double north_m = to.north_m - from.north_m, east_m = to.east_m - from.east_m;
  const double length_m = std::hypot(north_m, east_m);
  return {north_m / length_m, east_m / length_m};
}

/// Returns the piece of the line that holds a distance, by its second bend; the outermost ones continue.
std::size_t piece_at(const std::vector<Bend>& bends, double y_m) {
  const auto above = std::upper_bound(bends.begin() + 1, bends.end() - 1, y_m,
                                      [](double y, const Bend& bend) { return y < bend.y_m; });
  return static_cast<std::size_t>(above - bends.begin());
}

MapPlace along_bends(const Frame& frame, const Point& point) {
  const std::size_t k = piece_at(frame.bends, point.y_m);
  const Bend &from = frame.bends[k - 1], &to = frame.bends[k];
  const double part = (point.y_m - from.y_m) / (to.y_m - from.y_m);
  const Direction y = direction_of(from, to);
  return {from.east_m + part * (to.east_m - from.east_m) - point.x_m * y.north,
          from.north_m + part * (to.north_m - from.north_m) + point.x_m * y.east,
          frame.elevation_m - point.z_m};
}

Point from_straight(const Frame& frame, const MapPlace& place) {
  const Direction y = direction_of(frame.azimuth_deg);
  const double north_m = place.north_m - frame.origin_north_m, east_m = place.east_m - frame.origin_east_m;
  return {north_m * y.east - east_m * y.north, north_m * y.north + east_m * y.east,
          frame.elevation_m - place.elevation_m};
}

Point from_bends(const Frame& frame, const MapPlace& place) {
  Point nearest;
  double least_m = std::numeric_limits<double>::infinity();
  const std::size_t n = frame.bends.size();
  for (std::size_t k = 1; k < n; ++k) {
    const Bend &from = frame.bends[k - 1], &to = frame.bends[k];
    const Direction y = direction_of(from, to);
    const double north_m = place.north_m - from.north_m, east_m = place.east_m - from.east_m;
    const double length_m = std::hypot(to.north_m - from.north_m, to.east_m - from.east_m);
    const double along_m =
        std::clamp(north_m * y.north + east_m * y.east, k == 1 ? -1e300 : 0.0, k + 1 == n ? 1e300 : length_m);
    const double apart_m = std::hypot(north_m - along_m * y.north, east_m - along_m * y.east);
    if (apart_m >= least_m) continue;
    least_m = apart_m;
    nearest = {std::copysign(apart_m, north_m * y.east - east_m * y.north),
               from.y_m + along_m / length_m * (to.y_m - from.y_m), frame.elevation_m - place.elevation_m};
  }
  return nearest;
}

}  // namespace

void check(const Frame& frame) {
  for (const double value :
       {frame.origin_north_m, frame.origin_east_m, frame.azimuth_deg, frame.elevation_m}) {
    if (!std::isfinite(value))
      throw core::InvalidArgument("mesh::Frame#not_finite",
                                  "expected finite origin, azimuth and elevation, got {}", value);
  }
  if (frame.bends.size() == 1)
    throw core::InvalidArgument("mesh::Frame#single_bend", "expected no bends or at least two, got 1");
  for (std::size_t i = 0; i + 1 < frame.bends.size(); ++i) {
    const Bend &here = frame.bends[i], &next = frame.bends[i + 1];
    if (!(here.y_m < next.y_m) || !(std::hypot(next.north_m - here.north_m, next.east_m - here.east_m) > 0.0))
      throw core::InvalidArgument(
          "mesh::Frame#bend_returns",
          "expected bends at increasing distances and at different places, got bends {} "
          "and {} at y = {} m and {} m",
          i + 1, i + 2, here.y_m, next.y_m);
  }
}

MapPlace on_map(const Frame& frame, const Point& point) {
  if (!frame.bends.empty()) return along_bends(frame, point);
  const Direction y = direction_of(frame.azimuth_deg);
  return {frame.origin_east_m + point.y_m * y.east - point.x_m * y.north,
          frame.origin_north_m + point.y_m * y.north + point.x_m * y.east, frame.elevation_m - point.z_m};
}

Point from_map(const Frame& frame, const MapPlace& place) {
  return frame.bends.empty() ? from_straight(frame, place) : from_bends(frame, place);
}

}  // namespace lodestone::physics::mesh
