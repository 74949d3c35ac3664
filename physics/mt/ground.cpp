// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/ground.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

/// Returns the mean of the elevations that are known; 0 without any.
double mean_elevation_m(const std::vector<Station>& stations) {
  double sum = 0.0;
  int n = 0;
  for (const auto& station : stations) {
    if (!std::isfinite(station.elevation_m)) continue;
    sum += station.elevation_m;
    ++n;
  }
  return n > 0 ? sum / n : 0.0;
}

/// Sets depths from elevations.
void place_by_elevation(const std::vector<StationData>& files, std::vector<Station>& stations,
                        double elevation_m) {
  for (std::size_t i = 0; i < stations.size(); ++i) {
    if (!std::isfinite(stations[i].elevation_m))
      throw core::FormatError(
          "mt::ground_under#no_elevation",
          "{}: expected an elevation of station {} for profile.elevation = \"stations\", but "
          "the file states none that can be used; correct it, or give the ground by a file",
          files[i].path, stations[i].name);
    stations[i].z_m = elevation_m - stations[i].elevation_m;
  }
}

/// Returns dz/dy at a station; of a map that over a metre.
double slope_along_y(const mesh::Surface& surface, const Station& station) {
  if (!surface.is_map()) return surface.profile().slope_at(station.y_m);
  return surface.z_at(station.x_m, station.y_m + 0.5) - surface.z_at(station.x_m, station.y_m - 0.5);
}

/// Tilted stations are taken to lie along the slope of the surface.
void warn_of_tilts(const std::vector<Station>& stations, const mesh::Surface& surface) {
  constexpr double same_tilt_deg = 2.0;
  std::string names;
  for (const auto& station : stations) {
    const double slope_deg = std::atan(slope_along_y(surface, station)) * deg_per_rad;
    if (station.tilt_deg == 0.0 || std::abs(slope_deg - station.tilt_deg) <= same_tilt_deg) continue;
    names += fmt::format("{}{} ({:.1f}°, surface {:.1f}°)", names.empty() ? "" : ", ", station.name,
                         station.tilt_deg, slope_deg);
  }
  if (!names.empty())
    core::log::warning(core::log::Id("mt::ground#other_tilt"),
                       "stations whose tilt is not the surface's slope are computed along the slope: {}",
                       names);
}

/// Returns "sites of FILE" where one file holds all of them, else "sites".
std::string words_for_sites(const std::vector<StationData>& stations) {
  const bool one_file = !stations.empty() && std::ranges::all_of(stations, [&](const StationData& station) {
    return station.path == stations.front().path;
  });
  return one_file ? "sites of " + stations.front().path : "sites";
}

/// Warns of stations whose elevation is far from the surface of a file. Its z may have another zero, or its
/// coordinates be others than those of the stations.
void warn_of_elevations(const std::vector<Station>& stations, const mesh::Surface& surface) {
  constexpr double same_elevation_m = 50.0;
  std::string names;
  std::size_t n = 0;
  for (const Station& station : stations) {
    const double off_m = station.elevation_m + surface.z_at(station.x_m, station.y_m);
    if (!std::isnan(station.z_m) || !(std::abs(off_m) > same_elevation_m)) continue;
    if (++n <= 10) names += fmt::format("{}{} ({:+.0f} m)", n > 1 ? ", " : "", station.name, off_m);
  }
  if (n == 0) return;
  core::log::warning(
      core::log::Id("mt::ground#other_elevation"),
      "the elevations of {} of {} stations are not those of profile.surface_file, on which they "
      "are placed: {}{}; it counts from sea level, z downwards and elevations upwards, its coordinates are "
      "those of the stations, and means over cells leave out what is narrower",
      n, stations.size(), names, n > 10 ? fmt::format(" and {} more", n - 10) : "");
}

/// Warns of stations beyond the points of a map.
void warn_of_ends(const std::vector<Station>& stations, const mesh::Surface& surface) {
  if (!surface.is_map()) return;
  const auto &x = surface.x_m(), &y = surface.y_m();
  warn_of_sites_outside(stations, mesh::Box{.x_m = {x.front(), x.back()}, .y_m = {y.front(), y.back()}},
                        "the points of profile.surface_file, which continues level",
                        "its coordinates are those of the stations, in metres");
}

mesh::Surface surface_of(const std::vector<Station>& stations, const Observations& observed,
                         const GroundOptions& options) {
  if (options.elevation == Elevation::stations) return surface_through(stations);
  mesh::Surface surface = options.elevation == Elevation::file ? options.surface : mesh::Surface();
  const bool may_follow = options.elevation != Elevation::file && !observed.profile.is_map;
  check_site_depths(
      stations, surface, options.off_surface,
      fmt::format("{}set profile.drape = true, which moves the {} onto the surface (profile.elevation says "
                  "which surface)",
                  may_follow ? "set profile.elevation = \"stations\", whose surface goes through them, with "
                               "a table [sea] where they stand under water, or "
                             : "",
                  words_for_sites(observed.stations)));
  return surface;
}

/// Checks that the surface has the axes of the survey.
void check_kind(const Observations& observed, const GroundOptions& options) {
  if (observed.profile.is_map && options.elevation == Elevation::stations)
    throw core::InvalidArgument(
        "mt::ground_under#surface_through_map",
        "expected profile.elevation = \"flat_mean\" or \"file\" for stations on a map, got \"stations\", "
        "whose "
        "lines run between the stations of a profile; give the ground as points x_m,y_m,z_m of a grid by "
        "profile.surface_file");
  if (!observed.profile.is_map && options.elevation == Elevation::file) (void)options.surface.profile();
}

}  // namespace

Ground ground_under(const Observations& observed, const GroundOptions& options) {
  check_kind(observed, options);
  std::vector<Station> stations = observed.survey.stations;
  const double mean_m = mean_elevation_m(stations);
  const bool on_map = !observed.profile.projection.empty();
  if (on_map && options.elevation == Elevation::stations)
    place_by_elevation(observed.stations, stations, mean_m);
  Ground ground;
  if (on_map && options.elevation != Elevation::file) ground.elevation_m = mean_m;
  ground.surface = surface_of(stations, observed, options);
  warn_of_ends(stations, ground.surface);
  if (on_map && options.elevation == Elevation::file) warn_of_elevations(stations, ground.surface);
  warn_of_tilts(stations, ground.surface);
  if (ground.surface.is_flat())
    core::log::info("flat surface at {:.0f} m above sea level",
                    ground.elevation_m - ground.surface.lowest_m());
  if (observed.profile.is_map) return ground;
  warn_of_sites_at_kinks(observed.survey.stations, ground.surface.profile(),
                         options.elevation == Elevation::stations
                             ? "give the ground by profile.surface_file, since neighbours there are too close"
                             : "give profile.surface_file shorter segments there");
  return ground;
}

}  // namespace lodestone::physics::mt
