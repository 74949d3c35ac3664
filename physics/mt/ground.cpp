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

/// Tilted stations are taken to lie along the slope of the surface.
void warn_of_tilts(const std::vector<Station>& stations, const mesh::SurfaceLine& surface) {
  constexpr double same_tilt_deg = 2.0;
  std::string names;
  for (const auto& station : stations) {
    const double slope_deg = std::atan(surface.slope_at(station.y_m)) * deg_per_rad;
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

mesh::SurfaceLine surface_of(const std::vector<Station>& stations, const Observations& observed,
                             const GroundOptions& options) {
  if (options.elevation == Elevation::stations) return surface_through(stations);
  const mesh::SurfaceLine surface =
      options.elevation == Elevation::file ? options.surface : mesh::SurfaceLine();
  check_site_depths(
      stations, surface, options.off_surface,
      fmt::format("set profile.drape = true, which moves the {} onto the surface (profile.elevation says "
                  "which surface)",
                  words_for_sites(observed.stations)));
  return surface;
}

}  // namespace

Ground ground_under(const Observations& observed, const GroundOptions& options) {
  std::vector<Station> stations = observed.survey.stations;
  const double mean_m = mean_elevation_m(stations);
  const bool on_map = !observed.profile.projection.empty();
  if (on_map && options.elevation == Elevation::stations)
    place_by_elevation(observed.stations, stations, mean_m);
  Ground ground;
  if (on_map && options.elevation != Elevation::file) ground.elevation_m = mean_m;
  ground.surface = surface_of(stations, observed, options);
  warn_of_tilts(stations, ground.surface);
  if (ground.surface.is_flat())
    core::log::info("flat surface at {:.0f} m above sea level", ground.elevation_m);
  warn_of_sites_at_kinks(observed.survey.stations, ground.surface,
                         options.elevation == Elevation::stations
                             ? "profile.elevation = \"stations\" puts a corner under every site; give the "
                               "ground between them as well, by \"file\""
                             : "give profile.surface_file shorter segments there");
  return ground;
}

}  // namespace lodestone::physics::mt
