// SPDX-License-Identifier: Apache-2.0
#include "io/report/survey_places.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::io::report {

namespace mesh = physics::mesh;
namespace mt = physics::mt;

namespace {

constexpr double small_step_deg = 1e-4;  // to the north, for the direction of that on the map
constexpr double same_place_m = 1.0;
constexpr double usual_half_width = 0.1;  // of the length of a line

bool is_on_earth(const mt::Station& site) {
  return std::abs(site.latitude_deg) < 90.0 && std::isfinite(site.longitude_deg) &&
         (site.latitude_deg != 0.0 || site.longitude_deg != 0.0);
}

/// Places stations by latitude and longitude in a plane of their own.
void place_on_earth(const std::vector<mt::StationData>& stations, SurveyMap& map) {
  std::vector<geodesy::GeoPoint> points, northwards;
  for (const std::size_t k : map.stations) {
    const mt::Station& site = stations[k].site;
    points.push_back({site.latitude_deg, site.longitude_deg});
    northwards.push_back({site.latitude_deg + small_step_deg, site.longitude_deg});
  }
  map.projection = geodesy::Projection(points);
  const std::vector<mt::PlanePoint> at = map.projection->to_plane(points),
                                    north = map.projection->to_plane(northwards);
  for (std::size_t k = 0; k < at.size(); ++k) {
    map.sites.push_back({stations[map.stations[k]].site.name, {at[k].north_m, at[k].east_m, 0.0}});
    map.north_deg.push_back(std::atan2(north[k].east_m - at[k].east_m, north[k].north_m - at[k].north_m) *
                            mt::deg_per_rad);
  }
}

/// Places stations by the coordinates of their file.
void place_in_frame(const std::vector<mt::StationData>& stations, double x_azimuth_deg, SurveyMap& map) {
  const double c = std::cos(x_azimuth_deg / mt::deg_per_rad), s = std::sin(x_azimuth_deg / mt::deg_per_rad);
  for (const std::size_t k : map.stations) {
    const mt::Station& site = stations[k].site;
    map.sites.push_back({site.name, {c * site.x_m - s * site.y_m, s * site.x_m + c * site.y_m, 0.0}});
    map.north_deg.push_back(0.0);
  }
}

std::vector<std::size_t> in_frame(const std::vector<mt::StationData>& stations, const mt::LocalFrame& frame) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const mt::StationData& each = stations[k];
    if (each.local_frame && each.local_frame->is_same(frame) && std::isfinite(each.site.x_m) &&
        std::isfinite(each.site.y_m))
      found.push_back(k);
  }
  return found;
}

/// Sorts the stations of a line along it.
SurveyLine sorted(const std::vector<std::size_t>& stations, const std::vector<double>& y_m) {
  std::vector<std::size_t> order(stations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return y_m[k]; });
  SurveyLine line;
  for (const std::size_t k : order) {
    line.stations.push_back(stations[k]);
    line.y_m.push_back(y_m[k]);
  }
  return line;
}

bool is_long(const std::vector<double>& y_m) {
  return y_m.size() > 1 && std::ranges::max(y_m) - std::ranges::min(y_m) > same_place_m;
}

/// Returns the line of stations that their files place along one.
std::optional<SurveyLine> placed_line(const std::vector<mt::StationData>& stations) {
  std::vector<std::size_t> on_line;
  std::vector<double> y_m;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    if (stations[k].local_frame || !std::isfinite(stations[k].site.y_m)) continue;
    on_line.push_back(k);
    y_m.push_back(stations[k].site.y_m);
  }
  if (!is_long(y_m)) return {};
  return sorted(on_line, y_m);
}

bool is_apart(const std::vector<mesh::Site>& sites) {
  return std::ranges::any_of(sites, [&](const mesh::Site& each) {
    return std::hypot(each.at.x_m - sites.front().at.x_m, each.at.y_m - sites.front().at.y_m) > same_place_m;
  });
}

/// Returns the options with the azimuth of a line across the strike where only that is given.
mt::ProfileOptions across_strike(mt::ProfileOptions options) {
  if (options.strike_deg && !options.azimuth_deg) {
    constexpr double half_turn_deg = 180.0;
    options.azimuth_deg = std::fmod(*options.strike_deg + 90.0 + 2.0 * half_turn_deg, half_turn_deg);
  }
  return options;
}

}  // namespace

SurveyMap map_of(const std::vector<mt::StationData>& stations) {
  SurveyMap map;
  for (std::size_t k = 0; k < stations.size(); ++k)
    if (is_on_earth(stations[k].site)) map.stations.push_back(k);
  const auto framed =
      std::ranges::find_if(stations, [](const mt::StationData& s) { return !!s.local_frame; });
  if (framed != stations.end()) {
    std::vector<std::size_t> local = in_frame(stations, *framed->local_frame);
    if (local.size() > map.stations.size()) {
      map.stations = std::move(local);
      place_in_frame(stations, framed->local_frame->azimuth_deg, map);
      return map;
    }
  }
  if (!map.stations.empty()) place_on_earth(stations, map);
  return map;
}

std::optional<SurveyLine> line_of(const std::vector<mt::StationData>& stations, const SurveyMap& map,
                                  const mt::ProfileOptions& options, double width_m) {
  if (map.sites.empty()) return placed_line(stations);
  if (!is_apart(map.sites)) return {};
  std::vector<std::string> names;
  std::vector<mt::PlanePoint> points;
  for (const mesh::Site& site : map.sites) {
    names.push_back(site.name);
    points.push_back({site.at.x_m, site.at.y_m});
  }
  const mt::Profile profile = mt::make_profile(names, points, across_strike(options));
  const auto [least, most] = std::ranges::minmax(profile.y_m);
  const double half_width_m = width_m > 0.0 ? 0.5 * width_m : usual_half_width * (most - least);
  std::vector<std::size_t> near;
  std::vector<double> y_m;
  for (std::size_t k = 0; k < map.stations.size(); ++k) {
    if (std::abs(profile.offset_m[k]) > half_width_m) continue;
    near.push_back(map.stations[k]);
    y_m.push_back(profile.y_m[k]);
  }
  if (!is_long(y_m)) return {};
  SurveyLine line = sorted(near, y_m);
  line.azimuth_deg = profile.azimuth_deg;
  line.strike_deg = options.strike_deg.value_or(profile.azimuth_deg - 90.0);
  line.half_width_m = half_width_m;
  line.n_beside = stations.size() - near.size();
  const auto at = [&](double along) {
    const double angle = profile.azimuth_deg / mt::deg_per_rad;
    return mt::PlanePoint{profile.origin.north_m + along * std::cos(angle),
                          profile.origin.east_m + along * std::sin(angle)};
  };
  line.from = at(line.y_m.front());
  line.to = at(line.y_m.back());
  return line;
}

}  // namespace lodestone::io::report
