// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/observations.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/geodesy/projection.hpp"
#include "io/model/surface.hpp"
#include "physics/mt/site_depths.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;
using physics::mesh::SurfaceLine;
using Stations = std::vector<mt::TransferFunctions>;

/// What the reader assumed or missed; the rest of a long list is left to `mt_invert info`.
void log_warnings(const Stations& stations) {
  constexpr std::size_t most = 10;
  std::vector<std::string> warnings;
  for (const auto& station : stations)
    warnings.insert(warnings.end(), station.warnings.begin(), station.warnings.end());
  for (std::size_t i = 0; i < std::min(most, warnings.size()); ++i) core::log::warning("{}", warnings[i]);
  if (warnings.size() > most)
    core::log::warning("{} more remarks on the files; see them with: mt_invert info FILE…",
                       warnings.size() - most);
}

Stations read_stations(const config::DataConfig& config) {
  const io::edi::EdiFolder read = config.edi_folder.empty()
                                      ? io::edi::read_edi_files(config.edi_files, config.edi)
                                      : io::edi::read_edi_folder(config.edi_folder, config.edi);
  core::log::info("{} stations read, {} files skipped", read.stations.size(), read.skipped.size());
  log_warnings(read.stations);
  return read.stations;
}

std::vector<io::geodesy::GeoPoint> places_of(const Stations& stations) {
  std::vector<io::geodesy::GeoPoint> points;
  for (const auto& station : stations) {
    if (!std::isfinite(station.latitude_deg) || !std::isfinite(station.longitude_deg)) {
      throw core::FormatError("mt_invert",
                              "{}: expected latitude and longitude of station {}, got none; add them to the "
                              "file or leave it out of the list",
                              station.path, station.name);
    }
    points.push_back({station.latitude_deg, station.longitude_deg});
  }
  return points;
}

io::geodesy::Projection projection_of(const config::ProfileConfig& config,
                                      const std::vector<io::geodesy::GeoPoint>& points) {
  if (config.projection == "local") return io::geodesy::Projection(points);
  return config.projection == "utm" ? io::geodesy::Projection::utm(points)
                                    : io::geodesy::Projection::from_definition(config.projection);
}

void keep_periods(mt::TransferFunctions& station, const config::DataConfig& config) {
  std::erase_if(station.rows, [&](const mt::TransferFunctionRow& row) {
    const double period_s = 1.0 / row.frequency_hz;
    return period_s < config.period_min_s * (1.0 - mt::same_frequency) ||
           period_s > config.period_max_s * (1.0 + mt::same_frequency);
  });
}

void require_rows(const Stations& stations, const config::DataConfig& config) {
  if (std::ranges::any_of(stations, [](const auto& station) { return !station.rows.empty(); })) return;
  throw core::ConfigError("mt_invert",
                          "no station has a period within data.period_min_s = {:g} and data.period_max_s = "
                          "{:g}; widen them (mt_invert info "
                          "FILE… lists the periods of files)",
                          config.period_min_s, config.period_max_s);
}

/// Elevation of z = 0: the mean of the stations that know theirs.
double mean_elevation_m(const Stations& stations) {
  double sum = 0.0;
  int n = 0;
  for (const auto& station : stations) {
    if (!std::isfinite(station.elevation_m)) continue;
    sum += station.elevation_m;
    ++n;
  }
  return n > 0 ? sum / n : 0.0;
}

/// Depths of the stations below the datum.
std::vector<double> depths_of(const Stations& stations, double datum_elevation_m) {
  std::vector<double> z_m;
  for (const auto& station : stations) {
    if (!std::isfinite(station.elevation_m)) {
      throw core::FormatError(
          "mt_invert",
          "{}: expected an elevation of station {} for profile.elevation = \"stations\", got none",
          station.path, station.name);
    }
    z_m.push_back(datum_elevation_m - station.elevation_m);
  }
  return z_m;
}

io::run::ProfileGeometry geometry_of(const config::ProfileConfig& config, const mt::Profile& profile,
                                     const io::geodesy::Projection& projection,
                                     const std::vector<mt::PlanePoint>& points) {
  io::run::ProfileGeometry geometry;
  geometry.azimuth_deg = profile.azimuth_deg;
  geometry.origin = profile.origin;
  const io::geodesy::GeoPoint origin = projection.to_geographic({profile.origin}).front();
  geometry.origin_latitude_deg = origin.latitude_deg;
  geometry.origin_longitude_deg = origin.longitude_deg;
  geometry.projection = projection.definition();
  geometry.distance = config.options.distance == mt::Distance::running_sum ? "running_sum" : "projected";
  geometry.stations = points;
  geometry.offset_m = profile.offset_m;
  return geometry;
}

void log_profile(const mt::Profile& profile) {
  const auto [least, most] = std::ranges::minmax(profile.y_m);
  double farthest = 0.0;
  for (const double offset : profile.offset_m) farthest = std::max(farthest, std::abs(offset));
  core::log::info(
      "profile: y along azimuth {:.1f} degrees, {:.1f} … {:.1f} km; stations up to {:.1f} km off the line",
      profile.azimuth_deg, least / 1e3, most / 1e3, farthest / 1e3);
}

void log_data(const mt::ObservedData& data) {
  const auto interpolated = std::ranges::count(data.interpolated, std::uint8_t{1});
  core::log::info("{} stations, {} frequencies, {} data, {} of them used{}\n{}", data.survey.stations.size(),
                  data.survey.frequencies_hz.size(), data.value.size(), data.n_kept(),
                  interpolated > 0 ? fmt::format(", {} interpolated on request", interpolated) : "",
                  mt::mask_table(data));
  for (const auto& warning : mt::mask_warnings(data)) core::log::warning("{}", warning);
}

Observations from_stations(const config::DataConfig& config, const config::ProfileConfig& profile_config) {
  Stations stations = read_stations(config);
  const auto places = places_of(stations);
  const io::geodesy::Projection projection = projection_of(profile_config, places);
  const auto points = projection.to_plane(places);
  std::vector<std::string> names;
  for (const auto& station : stations) names.push_back(station.name);
  const mt::Profile profile = mt::make_profile(names, points, profile_config.options);
  log_profile(profile);

  for (auto& station : stations) {
    station = mt::rotated_to(station, profile.azimuth_deg - 90.0);
    keep_periods(station, config);
  }
  require_rows(stations, config);
  Observations result;
  result.data = mt::make_observed_data(stations, profile, config.selection);
  result.geometry = geometry_of(profile_config, profile, projection, points);
  result.geometry.datum_elevation_m = mean_elevation_m(stations);
  if (profile_config.elevation == config::Elevation::stations)
    result.surface =
        physics::mt::surface_through(profile.y_m, depths_of(stations, result.geometry.datum_elevation_m));
  if (profile_config.elevation == config::Elevation::file) {
    result.surface = io::model::read_surface_file(profile_config.surface_file);
    result.geometry.datum_elevation_m = 0.0;
  }
  return result;
}

/// Tilted stations are taken to lie along the surface's slope.
void warn_of_tilts(const io::profile::ProfileData& file, const SurfaceLine& surface) {
  constexpr double same_tilt_deg = 2.0;
  std::string names;
  for (std::size_t i = 0; i < file.tilt_deg.size(); ++i) {
    const auto& station = file.data.survey.stations[i];
    const double slope_deg = std::atan(surface.slope_at(station.y_m)) * mt::deg_per_rad;
    if (file.tilt_deg[i] == 0.0 || std::abs(slope_deg - file.tilt_deg[i]) <= same_tilt_deg) continue;
    names += fmt::format("{}{} ({:.1f}°, surface {:.1f}°)", names.empty() ? "" : ", ", station.name,
                         file.tilt_deg[i], slope_deg);
  }
  if (!names.empty())
    core::log::warning("stations whose tilt is not the surface's slope are computed along the slope: {}",
                       names);
}

/// Stations that lie on a profile already; z = 0 is their file's own.
Observations from_profile_file(const config::DataConfig& config, const config::ProfileConfig& profile) {
  io::profile::ProfileData file = load_profile_data(config);
  Observations result;
  if (profile.elevation == config::Elevation::stations) {
    std::vector<double> y_m;
    for (const auto& station : file.data.survey.stations) y_m.push_back(station.y_m);
    result.surface = physics::mt::surface_through(y_m, file.z_m);
  } else {
    if (profile.elevation == config::Elevation::file)
      result.surface = io::model::read_surface_file(profile.surface_file);
    physics::mt::check_site_depths(
        file.data.survey.stations, file.z_m, result.surface,
        profile.drape ? physics::mt::OffSurface::drape : physics::mt::OffSurface::refuse,
        "set profile.drape = true, which moves the sites onto the surface (profile.elevation "
        "says which surface)");
  }
  warn_of_tilts(file, result.surface);
  result.data = std::move(file.data);
  result.geometry.azimuth_deg = 90.0;
  return result;
}

}  // namespace

Observations load_observations(const config::DataConfig& data, const config::ProfileConfig& profile) {
  Observations result =
      data.profile_source().first.empty() ? from_stations(data, profile) : from_profile_file(data, profile);
  log_data(result.data);
  if (result.surface.is_flat())
    core::log::info("flat surface at {:.0f} m above sea level", result.geometry.datum_elevation_m);
  return result;
}

}  // namespace lodestone::mt_invert::method
