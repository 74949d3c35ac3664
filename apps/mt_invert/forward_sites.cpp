// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/forward_sites.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/csv/csv.hpp"
#include "io/modem/modem_2d.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/responses.hpp"

#include <cmath>

namespace lodestone::mt_invert {
namespace {

namespace mt = physics::mt;
constexpr double on_surface_m = 1.0;  // a site this near to the surface stands on it

/// A file whose first line that is neither blank nor a comment starts with "site" is CSV; everything else has to be ModEM.
bool is_csv(const std::string& path) {
  const std::string bytes = io::read_bytes(path);
  for (const std::string_view line : io::split_lines(bytes)) {
    const auto text = io::trimmed(line);
    if (!text.empty() && text.front() != '#') return io::lower(text).starts_with("site");
  }
  return false;
}

std::vector<mt::Station> stations_of(const std::vector<io::CsvSite>& sites, const physics::mesh::Section2D& section) {
  std::vector<mt::Station> stations;
  for (const auto& site : sites) {
    const double surface_m = section.surface.z_at(site.y_m);
    if (site.z_m && std::abs(*site.z_m - surface_m) > on_surface_m) {
      core::log::warning("site {}: z_m = {} m is not on the surface, which is at {} m; responses are computed on the surface", site.name,
                         *site.z_m, surface_m);
    }
    mt::Station station;
    station.name = site.name;
    station.y_m = site.y_m;
    stations.push_back(station);
  }
  return stations;
}

}  // namespace

ForwardSites read_forward_sites(const std::string& path, const std::vector<double>& periods_s, const physics::mesh::Section2D& section) {
  ForwardSites result;
  result.path = path;
  std::vector<mt::Station> stations;
  std::vector<double> frequencies_hz;
  if (is_csv(path)) {
    if (periods_s.empty())
      throw core::ConfigError("mt_invert", "{}: sites from a CSV file need --periods; add for example --periods 1,10,100", path);
    stations = stations_of(io::read_sites_csv(path), section);
    for (const double period : periods_s) frequencies_hz.push_back(1.0 / period);
  } else {
    result.modem = io::read_modem_data_2d(path);  // first: what is no ModEM file either should be told so
    if (!periods_s.empty()) throw core::ConfigError("mt_invert", "{}: a ModEM data file brings its own periods; remove --periods", path);
    stations = result.modem->survey.stations;
    frequencies_hz = result.modem->survey.frequencies_hz;
  }
  for (const auto& station : stations) result.z_m.push_back(section.surface.z_at(station.y_m));
  result.survey = mt::response_survey(std::move(stations), std::move(frequencies_hz));
  result.survey.validate();
  return result;
}

}  // namespace lodestone::mt_invert
