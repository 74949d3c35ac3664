// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/profile.hpp"

#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

double distance_m(const PlanePoint& a, const PlanePoint& b) {
  return std::hypot(a.north_m - b.north_m, a.east_m - b.east_m);
}

void check_points(const std::vector<std::string>& names, const std::vector<PlanePoint>& points) {
  if (points.empty())
    throw core::InvalidArgument("mt::make_profile#no_station",
                                "the list of stations is empty; select at least one");
  if (names.size() != points.size())
    throw core::ShapeError("mt::make_profile#wrong_size", "expected as many names as points ({}), got {}",
                           points.size(), names.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].north_m) || !std::isfinite(points[i].east_m)) {
      throw core::InvalidArgument("mt::make_profile#no_coordinates",
                                  "station {} has no coordinates; add latitude and longitude to its file",
                                  names[i]);
    }
  }
}

/// Checks that there are at least two places, as a line needs.
void require_line(const std::vector<std::string>& names, const std::vector<PlanePoint>& points) {
  constexpr double same_place_m = 1.0;
  if (std::any_of(points.begin(), points.end(),
                  [&](const PlanePoint& p) { return distance_m(p, points.front()) >= same_place_m; }))
    return;
  throw core::InvalidArgument(
      "mt::make_profile#one_place",
      "expected stations at two places or more to make a line, got one place ({}{}); give the azimuth of "
      "the profile, or take a sounding for a sounding (--dim 1)",
      names.front(), names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
}

PlanePoint mean_of(const std::vector<PlanePoint>& points) {
  PlanePoint mean;
  for (const auto& p : points) {
    mean.north_m += p.north_m / static_cast<double>(points.size());
    mean.east_m += p.east_m / static_cast<double>(points.size());
  }
  return mean;
}

/// Returns the direction of the largest spread, from 0 to 180 degrees.
double best_azimuth_deg(const std::vector<PlanePoint>& points, const PlanePoint& mean) {
  double nn = 0.0, ne = 0.0, ee = 0.0;
  for (const auto& p : points) {
    const double n = p.north_m - mean.north_m, e = p.east_m - mean.east_m;
    nn += n * n;
    ne += n * e;
    ee += e * e;
  }
  constexpr double rounding_deg = 1e-6;  // a line to the north must not turn round by the last digit
  const double azimuth = 0.5 * std::atan2(2.0 * ne, nn - ee) * deg_per_rad;
  return azimuth < -rounding_deg ? azimuth + 180.0 : std::max(azimuth, 0.0);
}

/// Returns the distances summed from station to station, growing along the azimuth.
std::vector<double> running_sum(const std::vector<PlanePoint>& points, const std::vector<double>& along) {
  const double sign = along.back() < along.front() ? -1.0 : 1.0;
  std::vector<double> y(points.size(), 0.0);
  for (std::size_t i = 1; i < points.size(); ++i)
    y[i] = y[i - 1] + sign * distance_m(points[i], points[i - 1]);
  return y;
}

}  // namespace

std::size_t index_of_station(const std::vector<std::string>& names, const std::string& name,
                             const char* place, const std::string& what) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto near = core::nearest_word(name, names);
  throw core::InvalidArgument(
      place, "{} names station \"{}\", which is not among the {} stations{}", what, name, names.size(),
      near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; check the name"));
}

Profile profile_along(std::vector<double> y_m) {
  const std::size_t n = y_m.size();
  return {90.0, {}, std::move(y_m), std::vector<double>(n, 0.0)};
}

Profile map_along(std::vector<double> x_m, std::vector<double> y_m, double x_azimuth_deg) {
  Profile map{x_azimuth_deg + 90.0, {}, std::move(y_m), std::move(x_m)};
  map.is_map = true;
  return map;
}

Profile make_map(const std::vector<std::string>& names, const std::vector<PlanePoint>& points,
                 const ProfileOptions& options) {
  check_points(names, points);
  if (options.distance == Distance::running_sum)
    throw core::InvalidArgument("mt::make_map#running_sum",
                                "expected distances on a map, got running sums along a line; remove "
                                "profile.distance, or invert a section");
  constexpr double east_deg = 90.0;
  const double azimuth_deg = options.azimuth_deg.value_or(east_deg);
  const double c = std::cos(azimuth_deg / deg_per_rad), s = std::sin(azimuth_deg / deg_per_rad);
  const PlanePoint origin =
      options.origin.empty()
          ? mean_of(points)
          : points[index_of_station(names, options.origin, "mt::make_profile#unknown_station",
                                    "the origin of the map")];
  std::vector<double> x_m, y_m;
  for (const PlanePoint& point : points) {
    const double north = point.north_m - origin.north_m, east = point.east_m - origin.east_m;
    x_m.push_back(north * s - east * c);
    y_m.push_back(north * c + east * s);
  }
  Profile map = map_along(std::move(x_m), std::move(y_m), azimuth_deg - 90.0);
  map.origin = origin;
  map.points = points;
  return map;
}

Profile Profile::of(const std::vector<std::size_t>& stations) const {
  Profile out = *this;
  const auto pick = [&](const auto& from, auto& to) {
    to.clear();
    for (const std::size_t i : stations) to.push_back(from.at(i));
  };
  pick(y_m, out.y_m);
  pick(offset_m, out.offset_m);
  if (!points.empty()) pick(points, out.points);
  return out;
}

Profile make_profile(const std::vector<std::string>& names, const std::vector<PlanePoint>& points,
                     const ProfileOptions& options) {
  check_points(names, points);
  if (!options.azimuth_deg) require_line(names, points);
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
      options.origin.empty()
          ? static_cast<std::size_t>(std::min_element(along.begin(), along.end()) - along.begin())
          : index_of_station(names, options.origin, "mt::make_profile#unknown_station",
                             "the origin of the profile");
  profile.y_m = options.distance == Distance::running_sum ? running_sum(points, along) : along;
  const double shift = profile.y_m[origin];
  for (double& y : profile.y_m) y -= shift;
  profile.origin = {mean.north_m + along[origin] * c, mean.east_m + along[origin] * s};
  profile.points = points;
  profile.distance = options.distance;
  return profile;
}

}  // namespace lodestone::physics::mt
