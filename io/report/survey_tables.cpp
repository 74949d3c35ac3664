// SPDX-License-Identifier: Apache-2.0
#include "io/report/survey_tables.hpp"

#include "engine/core/parallel.hpp"
#include "io/report/axes.hpp"
#include "io/report/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

using Rows = std::vector<std::vector<std::string>>;
using mt::Element;

constexpr const char* none = "–";

std::string number(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : none;
}

/// The content of one station in numbers.
struct Holding {
  mt::Elements elements{};
  std::size_t n_periods = 0, n_values = 0, n_errors = 0, n_readings = 0;
  double shortest_s = INFINITY, longest_s = 0.0;

  void add_period(double frequency_hz) {
    if (!(frequency_hz > 0.0)) return;
    shortest_s = std::min(shortest_s, 1.0 / frequency_hz);
    longest_s = std::max(longest_s, 1.0 / frequency_hz);
  }
};

Holding holding_of(const mt::StationData& station) {
  Holding out;
  std::vector<double> frequencies;
  for (const mt::StationRow& row : station.rows) {
    frequencies.push_back(row.frequency_hz);
    for (const Element element : mt::all_elements) {
      if (row.is_missing(element)) continue;
      out.elements.insert(element);
      ++out.n_values;
      if (std::isfinite(row.errors[element])) ++out.n_errors;
    }
  }
  for (const mt::Reading& reading : station.readings) {
    frequencies.push_back(reading.frequency_hz);
    ++out.n_readings;
    ++out.n_values;
    if (std::isfinite(reading.sigma)) ++out.n_errors;
  }
  std::ranges::sort(frequencies);
  const auto repeated = std::ranges::unique(
      frequencies, [](double a, double b) { return std::abs(a / b - 1.0) <= mt::same_frequency; });
  frequencies.erase(repeated.begin(), repeated.end());
  out.n_periods = frequencies.size();
  for (const double each : frequencies) out.add_period(each);
  return out;
}

/// Returns the names of those elements of a kind that are there; "all" of impedances.
std::string names_of(mt::Elements there, mt::Elements kind) {
  if (there.contains(kind)) return kind == mt::all_impedances ? "full" : "yes";
  std::vector<std::string_view> names;
  for (const Element element : mt::all_elements)
    if (kind.contains(element) && there.contains(element)) names.push_back(mt::rule_of(element).name);
  return names.empty() ? none : fmt::format("{}", fmt::join(names, ", "));
}

std::string errors_text(const Holding& holding) {
  if (holding.n_values == 0) return none;
  if (holding.n_errors == holding.n_values) return "all";
  if (holding.n_errors == 0) return "none";
  return fmt::format("{:.0f}\u00a0%",
                     100.0 * static_cast<double>(holding.n_errors) / static_cast<double>(holding.n_values));
}

std::string share_text(const mt::DimensionalityCounts& counts, mt::Dimensionality dimension) {
  return counts.n_determined() == 0 ? none : fmt::format("{:.0f}\u00a0%", 100.0 * counts.share(dimension));
}

/// Numbers of findings by severity.
struct FindingCounts {
  std::array<std::size_t, 3> of{};
  void add(mt::Severity severity) { ++of[static_cast<std::size_t>(severity)]; }
  /// Returns "1 error, 2 notes".
  [[nodiscard]] std::string text() const {
    std::vector<std::string> parts;
    for (const mt::Severity each : {mt::Severity::error, mt::Severity::warning, mt::Severity::note}) {
      const std::size_t n = of[static_cast<std::size_t>(each)];
      if (n > 0) parts.push_back(fmt::format("{} {}{}", n, core::word(each), n == 1 ? "" : "s"));
    }
    return parts.empty() ? none : fmt::format("{}", fmt::join(parts, ", "));
  }
};

std::vector<mt::DimensionalityCounts> dimensions_of(const std::vector<mt::StationData>& stations) {
  std::vector<mt::DimensionalityCounts> out(stations.size());
  core::parallel_for(std::ssize(stations), [&](std::ptrdiff_t k) {
    const auto at = static_cast<std::size_t>(k);
    out[at] = mt::dimensionality({stations[at]}, 0.0, std::numeric_limits<double>::max());
  });
  return out;
}

}  // namespace

std::string survey_summary(const std::vector<mt::StationData>& stations,
                           const std::vector<mt::Finding>& findings) {
  std::size_t n_full = 0, n_tipper = 0, n_errors = 0;
  std::map<std::string, std::size_t> formats;
  Holding all;
  for (const mt::StationData& station : stations) {
    const Holding each = holding_of(station);
    ++formats[station.format];
    if (each.elements.contains(mt::all_impedances)) ++n_full;
    if (each.elements.contains(Element::tzx) || each.elements.contains(Element::tzy)) ++n_tipper;
    if (each.n_errors > 0) ++n_errors;
    all.shortest_s = std::min(all.shortest_s, each.shortest_s);
    all.longest_s = std::max(all.longest_s, each.longest_s);
  }
  FindingCounts counts;
  for (const mt::Finding& each : findings) counts.add(each.severity);
  std::vector<std::string> of_formats;
  for (const auto& [name, n] : formats) of_formats.push_back(fmt::format("{} of {}", n, name));
  Rows rows{{"Stations", fmt::format("{} ({})", stations.size(), fmt::join(of_formats, ", "))}};
  if (all.longest_s > 0.0)
    rows.push_back(
        {"Periods", fmt::format("{} to {}", period_text(all.shortest_s), period_text(all.longest_s))});
  const auto of_all = [&](std::size_t n) { return fmt::format("{} of {}", n, stations.size()); };
  rows.push_back({"Stations with all four impedances", of_all(n_full)});
  rows.push_back({"Stations with a tipper", of_all(n_tipper)});
  rows.push_back({"Stations with errors", of_all(n_errors)});
  rows.push_back({"Findings of check", counts.text()});
  return html_table({}, rows);
}

std::string survey_stations(const std::vector<mt::StationData>& stations, const SurveyMap& map,
                            const std::vector<mt::Finding>& findings) {
  std::map<std::string, FindingCounts> counts;
  for (const mt::Finding& each : findings) {
    counts[each.station].add(each.severity);
    for (const std::string& other : each.others) counts[other].add(each.severity);
  }
  const std::vector<mt::DimensionalityCounts> dimensions = dimensions_of(stations);
  const bool in_frame = !map.sites.empty() && !map.projection;
  std::vector<std::string> head{"Station", in_frame ? "x (m)" : "latitude (°)",
                                in_frame ? "y (m)" : "longitude (°)"};
  for (const char* each : {"elevation (m)", "periods", "from (s)", "to (s)", "impedance", "tipper", "errors",
                           "1-D (%)", "2-D (%)", "3-D (%)", "findings"})
    head.emplace_back(each);
  std::map<std::size_t, std::size_t> placed;
  for (std::size_t k = 0; k < map.stations.size(); ++k) placed[map.stations[k]] = k;
  Rows rows;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const mt::Station& site = stations[k].site;
    const Holding each = holding_of(stations[k]);
    const bool has_place = placed.contains(k);
    const double first = in_frame ? site.x_m : site.latitude_deg,
                 second = in_frame ? site.y_m : site.longitude_deg;
    const int decimals = in_frame ? 0 : 4;
    std::vector<std::string> row{site.name, has_place ? number(first, decimals) : none,
                                 has_place ? number(second, decimals) : none, number(site.elevation_m, 0),
                                 std::to_string(each.n_periods)};
    row.push_back(each.n_periods > 0 ? plain_number(each.shortest_s, 3) : none);
    row.push_back(each.n_periods > 0 ? plain_number(each.longest_s, 3) : none);
    std::string impedance = names_of(each.elements, mt::all_impedances);
    if (impedance == none && each.n_readings > 0) impedance = "ρₐ, phase";
    row.push_back(std::move(impedance));
    row.push_back(names_of(each.elements, mt::all_tippers));
    row.push_back(errors_text(each));
    for (const auto dimension :
         {mt::Dimensionality::layered, mt::Dimensionality::section, mt::Dimensionality::volume})
      row.push_back(dimensions[k].n_determined() == 0 ? none
                                                      : number(100.0 * dimensions[k].share(dimension), 0));
    row.push_back(counts[site.name].text());
    rows.push_back(std::move(row));
  }
  return html_table(head, rows);
}

std::string findings_table(const std::vector<mt::Finding>& findings) {
  Rows rows;
  for (const mt::Finding& each : findings)
    rows.push_back({std::string(core::word(each.severity)), each.station, each.text, each.remedy,
                    std::filesystem::path(each.place).filename().string(), each.id});
  return html_table({"Severity", "station", "finding", "remedy", "file and line", "id"}, rows);
}

std::string sounding_bands_table(const std::vector<mt::SoundingBand>& bands) {
  if (bands.empty()) return "";
  constexpr double m_per_km = 1e3;
  const auto plain = [](double value, int digits) {
    return std::isfinite(value) ? plain_number(value, digits) : std::string(none);
  };
  Rows rows;
  for (const mt::SoundingBand& band : bands)
    rows.push_back(
        {fmt::format("{:g} to {:g}", band.min_period_s, band.max_period_s), std::to_string(band.n_tensors),
         plain(band.rho_det_ohm_m, 3), number(band.phase_det_deg, 0), plain(band.rho_ssq_ohm_m, 3),
         number(band.phase_ssq_deg, 0),
         fmt::format("{} to {}", plain(band.shallow_m / m_per_km, 2), plain(band.deep_m / m_per_km, 2)),
         number(band.swift_skew, 2), number(band.bahr_skew, 2)});
  return html_table({"Periods (s)", "tensors", "ρ det (Ω m)", "phase (°)", "ρ SSQ (Ω m)", "phase (°)",
                     "depth (km)", "Swift", "Bahr"},
                    rows);
}

std::string bands_table(const std::vector<mt::StrikeBand>& bands) {
  Rows rows;
  for (const mt::StrikeBand& band : bands) {
    rows.push_back({fmt::format("{:g} to {:g}", band.min_period_s, band.max_period_s),
                    share_text(band.dimension, mt::Dimensionality::layered),
                    share_text(band.dimension, mt::Dimensionality::section),
                    share_text(band.dimension, mt::Dimensionality::volume),
                    number(band.dimension.median_skew_deg, 1), mt::in_words(band.strike),
                    band.strike ? fmt::format("{:.2g}", band.strike->rms) : "",
                    band.tipper ? fmt::format("{:.0f}, {:.0f} % along it", band.tipper->azimuth_deg,
                                              100.0 * band.tipper->share_along)
                                : ""});
  }
  return html_table(
      {"Periods (s)", "1-D", "2-D", "3-D", "skew (°)", "strike (°)", "rms", "strike of tippers (°)"}, rows);
}

}  // namespace lodestone::io::report
