// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/observations.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/geodesy/profile.hpp"
#include "io/model/surface.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/site_depths.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;
using io::survey::FileKind;
using physics::mesh::SurfaceLine;
using Stations = std::vector<mt::StationData>;

/// Logs what the reader assumed or missed; the rest of a long list is left to `mt_invert info`.
void log_remarks(const Stations& stations) {
  constexpr std::size_t most = 10;
  std::vector<std::string> remarks;
  for (const auto& station : stations)
    remarks.insert(remarks.end(), station.remarks.begin(), station.remarks.end());
  for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i) core::log::warning("{}", remarks[i]);
  if (remarks.size() > most)
    core::log::warning("{} more remarks on the files; see them with: mt_invert info FILE…",
                       remarks.size() - most);
}

/// Whatever the content of a file, it is read as the key of the configuration states.
FileKind kind_of(const config::DataConfig& config) {
  if (!config.modem_file.empty()) return FileKind::modem_data_2d;
  if (!config.mare2dem_file.empty()) return FileKind::emdata;
  return config.mt2d_file.empty() ? FileKind::edi : FileKind::mt2d_data;
}

Stations read_stations(const config::DataConfig& config) {
  const io::survey::ReadOptions options{config.edi, config.station_order, kind_of(config)};
  const std::string profile_file = config.profile_source().second;
  Stations stations = !profile_file.empty()       ? io::survey::read(profile_file, options)
                      : config.edi_folder.empty() ? io::survey::read_files(config.edi_files, options)
                                                  : io::survey::read_folder(config.edi_folder, options);
  core::log::info("{} stations read", stations.size());
  log_remarks(stations);
  return stations;
}

/// Selects data. What the configuration names in vain is an error of the configuration.
mt::Observations select_data(const Stations& stations, const mt::Profile& profile,
                             const mt::Selection& selection) {
  try {
    return mt::select(stations, profile, selection);
  } catch (const core::InvalidArgument& error) {
    if (error.id() == "unknown_station") throw core::ConfigError(core::Worded{error.what(), error.place()});
    if (error.id() != "no_period") throw;
    throw core::ConfigError("mt_invert#no_period",
                            "no station has a period within data.period_min_s = {:g} and data.period_max_s = "
                            "{:g}; widen them (mt_invert info FILE… lists the periods of files)",
                            selection.min_period_s, selection.max_period_s);
  }
}

void log_profile(const mt::Profile& profile) {
  const auto [least, most] = std::ranges::minmax(profile.y_m);
  double farthest = 0.0;
  for (const double offset : profile.offset_m) farthest = std::max(farthest, std::abs(offset));
  core::log::info(
      "profile: y along azimuth {:.1f} degrees, {:.1f} … {:.1f} km; stations up to {:.1f} km off the line",
      profile.azimuth_deg, least / 1e3, most / 1e3, farthest / 1e3);
}

void log_data(const mt::Observations& observed) {
  const mt::ObservedData data = observed.observed_data();
  const auto interpolated = std::ranges::count(data.interpolated, std::uint8_t{1});
  for (const auto& station : observed.stations) {
    if (!station.other_names.empty())
      core::log::info("station {}: merged with the bands of {} at the same place", station.site.name,
                      fmt::join(station.other_names, ", "));
  }
  core::log::info("{} stations, {} frequencies, {} data, {} of them used{}\n{}", data.survey.stations.size(),
                  data.survey.frequencies_hz.size(), data.value.size(), data.n_kept(),
                  interpolated > 0 ? fmt::format(", {} interpolated on request", interpolated) : "",
                  mt::mask_table(data));
  for (const auto& warning : mt::mask_warnings(observed)) core::log::warning("{}", warning);
}

/// Elevation of z = 0 where stations have elevations alone: the mean of those that are known.
double mean_elevation_m(const std::vector<mt::Station>& stations) {
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
void place_by_elevation(const Stations& files, std::vector<mt::Station>& stations, double datum_elevation_m) {
  for (std::size_t i = 0; i < stations.size(); ++i) {
    if (!std::isfinite(stations[i].elevation_m)) {
      throw core::FormatError(
          "mt_invert",
          "{}: expected an elevation of station {} for profile.elevation = \"stations\", got none",
          files[i].path, stations[i].name);
    }
    stations[i].z_m = datum_elevation_m - stations[i].elevation_m;
  }
}

io::run::ProfileGeometry geometry_of(const config::ProfileConfig& config, const mt::Profile& profile) {
  io::run::ProfileGeometry geometry;
  geometry.azimuth_deg = profile.azimuth_deg;
  if (profile.projection.empty()) return geometry;
  geometry.origin = profile.origin;
  geometry.origin_latitude_deg = profile.origin_latitude_deg;
  geometry.origin_longitude_deg = profile.origin_longitude_deg;
  geometry.projection = profile.projection;
  geometry.distance = core::word(config.options.distance);
  geometry.stations = profile.points;
  geometry.offset_m = profile.offset_m;
  return geometry;
}

/// Tilted stations are taken to lie along the surface's slope.
void warn_of_tilts(const std::vector<mt::Station>& stations, const SurfaceLine& surface) {
  constexpr double same_tilt_deg = 2.0;
  std::string names;
  for (const auto& station : stations) {
    const double slope_deg = std::atan(surface.slope_at(station.y_m)) * mt::deg_per_rad;
    if (station.tilt_deg == 0.0 || std::abs(slope_deg - station.tilt_deg) <= same_tilt_deg) continue;
    names += fmt::format("{}{} ({:.1f}°, surface {:.1f}°)", names.empty() ? "" : ", ", station.name,
                         station.tilt_deg, slope_deg);
  }
  if (!names.empty())
    core::log::warning("stations whose tilt is not the surface's slope are computed along the slope: {}",
                       names);
}

/// The surface by the stations, from a file, or flat. Stations whose file states a depth have to stand on it.
SurfaceLine surface_of(const config::ProfileConfig& config, const std::vector<mt::Station>& stations) {
  if (config.elevation == config::Elevation::stations) return mt::surface_through(stations);
  SurfaceLine surface;
  if (config.elevation == config::Elevation::file)
    surface = io::model::read_surface_file(config.surface_file);
  mt::check_site_depths(stations, surface, config.drape ? mt::OffSurface::drape : mt::OffSurface::refuse,
                        "set profile.drape = true, which moves the sites onto the surface (profile.elevation "
                        "says which surface)");
  return surface;
}

}  // namespace

Observations load_observations(const config::DataConfig& data, const config::ProfileConfig& config) {
  const Stations stations = read_stations(data);
  const mt::Profile profile = io::geodesy::profile(stations, {.azimuth_deg = config.options.azimuth_deg,
                                                              .origin = config.options.origin_station,
                                                              .distance = config.options.distance,
                                                              .projection = config.projection});
  const bool on_map = !profile.projection.empty();
  if (on_map) log_profile(profile);
  const mt::Observations observed = select_data(stations, profile, data.selection);
  mt::require_predictable(observed.survey, mt::section_elements);
  Observations result{observed.observed_data(), geometry_of(config, observed.profile),
                      physics::mesh::SurfaceLine()};
  std::vector<mt::Station> sites = observed.survey.stations;
  const double mean_m = mean_elevation_m(sites);
  if (on_map && config.elevation == config::Elevation::stations)
    place_by_elevation(observed.stations, sites, mean_m);
  if (on_map && config.elevation != config::Elevation::file) result.geometry.datum_elevation_m = mean_m;
  result.surface = surface_of(config, sites);
  warn_of_tilts(sites, result.surface);
  log_data(observed);
  if (result.surface.is_flat())
    core::log::info("flat surface at {:.0f} m above sea level", result.geometry.datum_elevation_m);
  return result;
}

}  // namespace lodestone::mt_invert::method
