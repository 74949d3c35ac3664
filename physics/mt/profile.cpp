// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/profile.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/station_names.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr const char* profile_name = "mt::make_profile";

double distance_m(const PlanePoint& a, const PlanePoint& b) {
  return std::hypot(a.north_m - b.north_m, a.east_m - b.east_m);
}

void check_points(const std::vector<std::string>& names, const std::vector<PlanePoint>& points) {
  constexpr double same_place_m = 1.0;
  if (points.empty()) throw core::InvalidArgument(profile_name, "expected at least one station, got none");
  if (names.size() != points.size())
    throw core::ShapeError(profile_name, "expected as many names as points ({}), got {}", points.size(),
                           names.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].north_m) || !std::isfinite(points[i].east_m)) {
      throw core::InvalidArgument(
          profile_name, "station {} has no coordinates; add latitude and longitude to its file", names[i]);
    }
    for (std::size_t j = 0; j < i; ++j) {
      const double d = distance_m(points[i], points[j]);
      if (d < same_place_m) {
        throw core::InvalidArgument(profile_name,
                                    "expected stations at different places, but {} and {} are {:.2f} m "
                                    "apart; remove one or merge their bands",
                                    names[j], names[i], d);
      }
    }
  }
}

PlanePoint mean_of(const std::vector<PlanePoint>& points) {
  PlanePoint mean;
  for (const auto& p : points) {
    mean.north_m += p.north_m / static_cast<double>(points.size());
    mean.east_m += p.east_m / static_cast<double>(points.size());
  }
  return mean;
}

/// Direction of the largest spread, from the first towards the last station.
double best_azimuth_deg(const std::vector<PlanePoint>& points, const PlanePoint& mean) {
  double nn = 0.0, ne = 0.0, ee = 0.0;
  for (const auto& p : points) {
    const double n = p.north_m - mean.north_m, e = p.east_m - mean.east_m;
    nn += n * n;
    ne += n * e;
    ee += e * e;
  }
  double azimuth = 0.5 * std::atan2(2.0 * ne, nn - ee) * deg_per_rad;
  const double c = std::cos(azimuth / deg_per_rad), s = std::sin(azimuth / deg_per_rad);
  const auto along = [&](const PlanePoint& p) { return p.north_m * c + p.east_m * s; };
  if (along(points.back()) < along(points.front())) azimuth += 180.0;
  return azimuth < 0.0 ? azimuth + 360.0 : azimuth;
}

/// Distances summed from station to station, growing along the azimuth.
std::vector<double> running_sum(const std::vector<PlanePoint>& points, const std::vector<double>& along) {
  const double sign = along.back() < along.front() ? -1.0 : 1.0;
  std::vector<double> y(points.size(), 0.0);
  for (std::size_t i = 1; i < points.size(); ++i)
    y[i] = y[i - 1] + sign * distance_m(points[i], points[i - 1]);
  return y;
}

}  // namespace

Profile make_profile(const std::vector<std::string>& names, const std::vector<PlanePoint>& points,
                     const ProfileOptions& options) {
  check_points(names, points);
  if (!options.azimuth_deg && points.size() == 1) {
    throw core::InvalidArgument(
        profile_name, "one station ({}) makes no line; give the azimuth of the profile", names.front());
  }
  const PlanePoint mean = mean_of(points);
  Profile profile;
  profile.azimuth_deg = options.azimuth_deg ? *options.azimuth_deg : best_azimuth_deg(points, mean);
  const double c = std::cos(profile.azimuth_deg / deg_per_rad),
               s = std::sin(profile.azimuth_deg / deg_per_rad);
  std::vector<double> along;
  for (const auto& p : points) {
    const double n = p.north_m - mean.north_m, e = p.east_m - mean.east_m;
    along.push_back(n * c + e * s);
    profile.offset_m.push_back(n * s - e * c);
  }
  const std::size_t origin =
      options.origin_station.empty()
          ? static_cast<std::size_t>(std::min_element(along.begin(), along.end()) - along.begin())
          : index_of_station(names, options.origin_station, profile_name, "the origin of the profile");
  profile.y_m = options.distance == Distance::running_sum ? running_sum(points, along) : along;
  const double shift = profile.y_m[origin];
  for (double& y : profile.y_m) y -= shift;
  profile.origin = {mean.north_m + along[origin] * c, mean.east_m + along[origin] * s};
  return profile;
}

}  // namespace lodestone::physics::mt
