// SPDX-License-Identifier: Apache-2.0
#include "io/survey/sites.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/csv/rows.hpp"
#include "io/modem/modem.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/sites.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;

/// Returns true for CSV: by its name, or by a first line, neither blank nor a comment, that starts with
/// "site"; everything else has to be a data file.
bool is_csv(const std::string& path) {
  if (io::text::lower(path).ends_with(".csv")) return true;
  const std::string bytes = io::text::read_text(path);
  for (const std::string_view line : io::text::split_lines(bytes)) {
    const auto text = io::text::trimmed(line);
    if (!text.empty() && text.front() != '#') return io::text::lower(text).starts_with("site");
  }
  return false;
}

struct SitesAndTimes {
  std::vector<mt::Station> stations{};  ///< depths where they are stated
  std::vector<double> frequencies_hz{};
  bool on_map = false;
};

SitesAndTimes from_csv(const std::string& path, const std::vector<double>& periods_s) {
  if (periods_s.empty())
    throw core::ConfigError("io::survey::sites#no_periods",
                            "{}: sites from a CSV file need --periods; add for example --periods 1,10,100",
                            path);
  SitesAndTimes result;
  const std::vector<SiteRow> rows = read_sites_csv(path);
  result.on_map = rows.front().x_m.has_value();
  for (const SiteRow& site : rows) {
    mt::Station station;
    station.name = site.name;
    station.x_m = site.x_m.value_or(0.0);
    station.y_m = site.y_m;
    station.z_m = site.z_m.value_or(mt::not_given);
    station.reference = site.reference;
    result.stations.push_back(station);
  }
  for (const double period : periods_s) result.frequencies_hz.push_back(1.0 / period);
  return result;
}

SitesAndTimes from_data_file(const std::string& path, const std::vector<double>& periods_s,
                             std::optional<mt::Observations>& modem) {
  const bool is_modem = kind_of_file(path) != FileKind::emdata;
  const std::vector<mt::StationData> stations = is_modem ? modem::read_data(path) : read(path);
  for (const auto& station : stations) {
    for (const auto& remark : station.all_remarks())
      core::log::warning(core::log::Id("io::survey::sites#remark"), "{}", remark.text);
  }
  if (!periods_s.empty())
    throw core::ConfigError("io::survey::sites#periods_twice",
                            "{}: a data file brings its own periods; remove --periods", path);
  mt::Observations data = mt::stated_data(stations);
  SitesAndTimes result{data.survey.stations, data.survey.frequencies_hz,
                       stations.front().local_frame.has_value()};
  if (is_modem) modem = std::move(data);
  return result;
}

/// Checks that the sites suit a model of these axes. errors: ConfigError.
void check_kind(bool on_map, int dimension, const std::string& path) {
  if (dimension == 2 && on_map)
    throw core::ConfigError(
        "io::survey::sites#sites_on_a_map",
        "{}: expected sites along a profile, as the model is a section, got sites on a map; "
        "give a file of sites with the header `site,y_m`",
        path);
  if (dimension == 3 && !on_map)
    throw core::ConfigError(
        "io::survey::sites#sites_on_a_line",
        "{}: expected sites on a map, as the model is a volume, got sites along a profile; "
        "give a ModEM 3-D data file, or sites with the header `site,x_m,y_m`",
        path);
}

/// Returns the place of a site in words.
std::string in_words(const SiteRow& site) {
  return site.x_m ? fmt::format("x = {} m, y = {} m", *site.x_m, site.y_m)
                  : fmt::format("y = {} m", site.y_m);
}

/// Adds the place of a site. errors: FormatError at `where` when an earlier one stands there.
void check_place(const SiteRow& site, std::multimap<double, SiteRow>& places, const std::string& where) {
  for (auto near = places.lower_bound(site.y_m - mt::least_distance_m);
       near != places.end() && near->first - site.y_m < mt::least_distance_m; ++near) {
    const SiteRow& other = near->second;
    const double distance_m =
        std::hypot(other.y_m - site.y_m, other.x_m.value_or(0.0) - site.x_m.value_or(0.0));
    if (distance_m < mt::least_distance_m)
      throw core::FormatError("io::read_sites_csv#same_place",
                              "{}: expected sites {:g} m apart or more, but {} stands at {} and {} at {}; "
                              "remove one",
                              where, mt::least_distance_m, other.name, in_words(other), site.name,
                              in_words(site));
  }
  places.emplace(site.y_m, site);
}

/// The columns of a table of sites.
struct SiteColumns {
  std::size_t y = 1;
  std::optional<std::size_t> x{}, z{}, reference{};
};

/// Returns the columns of a header. errors: FormatError unless it is one of the six.
SiteColumns columns_of(const std::vector<std::string>& header, const std::string& path) {
  const std::string line = fmt::format("{}", fmt::join(header, ","));
  if (line == "site,y_m") return {};
  if (line == "site,y_m,z_m") return {.z = 2};
  if (line == "site,x_m,y_m") return {.y = 2, .x = 1};
  if (line == "site,x_m,y_m,z_m") return {.y = 2, .x = 1, .z = 3};
  if (line == "site,x_m,y_m,reference") return {.y = 2, .x = 1, .reference = 3};
  if (line == "site,x_m,y_m,z_m,reference") return {.y = 2, .x = 1, .z = 3, .reference = 4};
  throw core::FormatError(
      "io::read_sites_csv#wrong_header",
      "{}:1: expected the header line `site,y_m`, or `site,x_m,y_m` on a map, each with or "
      "without `,z_m`, on a map also `,reference` behind it, got \"{}\"",
      path, text::printable(line));
}

/// Checks that references are sites. errors: FormatError.
void check_references(const std::vector<SiteRow>& sites, const std::set<std::string>& names,
                      const std::string& path) {
  for (const SiteRow& site : sites) {
    if (site.reference.empty() || names.contains(site.reference)) continue;
    throw core::FormatError(
        "io::read_sites_csv#unknown_reference",
        "{}: expected references that are sites of the file, got {} for {}; add its place", path,
        text::printable(site.reference), site.name);
  }
}

/// Checks the survey of a file. errors: FormatError with the name of the file.
void check_survey(const mt::Survey& survey, const std::string& path) {
  try {
    survey.validate();
  } catch (const core::InvalidArgument& error) {
    throw core::FormatError("io::survey::sites#wrong_sites", "{}: {}", path, error.what());
  }
}

}  // namespace

std::vector<SiteRow> read_sites_csv(const std::string& path) {
  constexpr const char* component = "io::read_sites_csv";
  const csv::Rows table = csv::read_rows(path, component);
  const SiteColumns columns = columns_of(table.header, path);
  std::vector<SiteRow> sites;
  std::set<std::string> names;
  std::multimap<double, SiteRow> places;
  for (const auto& [line, fields] : table.rows) {
    const std::string place = fmt::format("{}:{}", path, line);
    const auto metres = [&, n = line, &row = fields](std::size_t column) {
      const double value = csv::real_field(row[column], path, n, component, table.header[column]);
      if (!mt::is_in_coordinate_range(value))
        throw core::FormatError("io::read_sites_csv#out_of_range",
                                "{}: expected a site within {:g} m of the origin, got {:g} m", place,
                                mt::largest_coordinate_m, value);
      return value;
    };
    SiteRow site{text::checked_name(fields[0], component, place), metres(columns.y)};
    if (columns.x) site.x_m = metres(*columns.x);
    if (columns.z && !fields[*columns.z].empty()) site.z_m = metres(*columns.z);
    if (columns.reference) site.reference = fields[*columns.reference];
    if (site.name.empty())
      throw core::FormatError("io::read_sites_csv#no_name",
                              "{}:{}: expected a site name in the first column, found none", path, line);
    if (!names.insert(site.name).second)
      throw core::FormatError("io::read_sites_csv#name_twice",
                              "{}:{}: site {} stands twice; give each its own name", path, line, site.name);
    check_place(site, places, place);
    sites.push_back(std::move(site));
  }
  if (sites.empty())
    throw core::FormatError("io::read_sites_csv#no_site",
                            "{}:1: expected at least one site below the header line, found none", path);
  check_references(sites, names, path);
  return sites;
}

ForwardSites read_forward_sites(const std::string& path, const std::vector<double>& periods_s,
                                const physics::mesh::Model& model, physics::mt::OffSurface off_surface) {
  const physics::mesh::Surface& surface = model.earth.surface;
  const bool is_volume = model.earth.grid.dimension() == 3;
  ForwardSites result;
  result.path = path;
  SitesAndTimes sites =
      is_csv(path) ? from_csv(path, periods_s) : from_data_file(path, periods_s, result.modem);
  check_kind(sites.on_map, model.earth.grid.dimension(), path);
  physics::mt::check_site_depths(sites.stations, surface, off_surface,
                                 "add --drape, which moves the sites of " + path + " onto the surface");
  if (!is_volume)
    physics::mt::warn_of_sites_at_kinks(
        sites.stations, surface.profile(),
        "give the model's surface in shorter segments there, or move the sites");
  for (auto& station : sites.stations) {
    result.z_m.push_back(surface.z_at(station.x_m, station.y_m));
    if (is_volume) station.z_m = result.z_m.back();  // ModEM files of maps state it
  }
  if (is_volume && result.modem) {
    for (std::size_t i = 0; i < result.z_m.size(); ++i) result.modem->survey.stations[i].z_m = result.z_m[i];
  }
  result.survey = is_volume
                      ? mt::full_response_survey(std::move(sites.stations), std::move(sites.frequencies_hz))
                      : mt::response_survey(std::move(sites.stations), std::move(sites.frequencies_hz));
  check_survey(result.survey, path);
  return result;
}

}  // namespace lodestone::io::survey
