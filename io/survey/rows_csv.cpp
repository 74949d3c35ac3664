// SPDX-License-Identifier: Apache-2.0
#include "io/survey/rows_csv.hpp"

#include "engine/core/error.hpp"
#include "io/csv/rows.hpp"
#include "io/csv/table.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::Element;
using mt::StationData;
using mt::StationRow;

constexpr std::array elements{Element::zxx, Element::zxy, Element::zyx,
                              Element::zyy, Element::tzx, Element::tzy};

/// Returns the name of a column of an element: "Zxy_re_ohm", "Tzy_error".
std::string column_of(Element element, const char* part) {
  return fmt::format("{}_{}{}", mt::rule_of(element).name, part, mt::is_impedance(element) ? "_ohm" : "");
}

std::string field_of(double value) { return text::shortest(value, ""); }

std::string line_of(const StationData& station, const StationRow& row) {
  std::string line = csv::quoted_if_needed(station.site.name);
  for (const double value : {station.site.latitude_deg, station.site.longitude_deg, station.site.elevation_m,
                             row.frequency_hz, row.azimuths.hx_deg})
    line += "," + field_of(value);
  for (const Element element : elements)
    for (const double value : {row.values[element].real(), row.values[element].imag(), row.errors[element]})
      line += "," + field_of(value);
  return line + "\n";
}

/// Returns the columns without which a table states no transfer function at a place: a site, a period, and of
/// places and elements all parts where there is one. Names of columns that are missing.
std::vector<std::string> missing_columns(const core::Table& table) {
  std::vector<std::string> missing;
  const auto require_all = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (!table.has(name)) missing.push_back(name);
  };
  const auto has_any = [&](const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) { return table.has(name); });
  };
  require_all({"site"});
  if (!has_any({"frequency_hz", "period_s"})) missing.emplace_back("frequency_hz (or period_s)");
  const std::vector<std::string> place{"latitude_deg", "longitude_deg"};
  if (has_any(place)) require_all(place);
  bool has_element = false;
  for (const Element element : elements) {
    const std::vector<std::string> parts{column_of(element, "re"), column_of(element, "im")};
    const bool is_there = has_any(parts) || table.has(column_of(element, "error"));
    if (is_there) require_all(parts);
    has_element |= is_there;
  }
  if (!has_element) missing.push_back(column_of(Element::zxy, "re") + " (or another element)");
  return missing;
}

/// Refuses a table that lacks a column. errors: FormatError with the line of the header.
void require_columns(const core::Table& table, const std::string& path) {
  const std::vector<std::string> missing = missing_columns(table);
  if (missing.empty()) return;
  constexpr const char* component = "io::survey::read_rows_csv";
  throw core::FormatError("io::survey::read_rows_csv#no_column",
                          "{}:{}: expected column{} {} in a table of transfer functions, found {}; correct "
                          "the header line, or add what is missing",
                          path, csv::read_rows(path, component).header_line, missing.size() > 1 ? "s" : "",
                          fmt::join(missing, ", "),
                          text::printable(fmt::format("{}", fmt::join(table.names(), ", ")), 600));
}

/// The numbers of a table by the names of its columns; a column that is not there is missing in every row.
class Columns {
 public:
  Columns(const core::Table& table, std::string path) : table_(table), path_(std::move(path)) {}
  [[nodiscard]] double at(const std::string& name, std::size_t row) const {
    if (!table_.has(name)) return mt::not_given;
    const bool is_numbers = table_.column(name).is_numbers();
    if (!is_numbers && table_.texts(name)[row].empty()) return mt::not_given;  // a column without any number
    if (!is_numbers)
      throw core::FormatError("io::survey::read_rows_csv#not_numbers",
                              "{}:1: expected numbers in column {}, got texts; correct them", path_, name);
    return table_.numbers(name)[row];
  }

 private:
  const core::Table& table_;
  std::string path_;
};

StationRow row_of(const Columns& columns, std::size_t k, double frequency_hz) {
  StationRow row;
  row.frequency_hz = frequency_hz;
  const double azimuth_deg = columns.at("azimuth_deg", k);
  row.azimuths = mt::ChannelAzimuths::along(std::isfinite(azimuth_deg) ? azimuth_deg : 0.0);
  for (const Element element : elements) {
    row.values[element] = {columns.at(column_of(element, "re"), k), columns.at(column_of(element, "im"), k)};
    row.errors[element] = columns.at(column_of(element, "error"), k);
  }
  return row;
}

}  // namespace

mt::Written rows_csv_text(const std::vector<StationData>& stations) {
  mt::Written out{"site,latitude_deg,longitude_deg,elevation_m,frequency_hz,azimuth_deg"};
  for (const Element element : elements)
    for (const char* part : {"re", "im", "error"}) out.text += "," + column_of(element, part);
  out.text += "\n";
  std::set<std::string> lost;
  for (const StationData& station : stations) {
    StationData turned = station;
    for (const std::string& each : mt::not_held(station, {})) lost.insert(each);
    for (StationRow& row : turned.rows) {
      std::vector<StationRow> one{row};
      if (const std::string what = mt::put_in_one_frame(one, true); !what.empty()) lost.insert(what);
      out.text += line_of(station, one.front());
    }
  }
  out.lost.assign(lost.begin(), lost.end());
  return out;
}

std::vector<StationData> read_rows_csv(const std::string& path) {
  const core::Table table = csv::read_table(path);
  require_columns(table, path);
  const bool by_period = !table.has("frequency_hz");
  const Columns columns(table, path);
  std::vector<StationData> stations;
  for (std::size_t k = 0; k < table.n_rows(); ++k) {
    // A name that is a number is one all the same.
    const core::Table::Column& sites = table.column("site");
    const std::string name =
        sites.is_numbers() ? text::shortest(table.numbers("site")[k]) : table.texts("site")[k];
    const double frequency_hz = by_period ? 1.0 / columns.at("period_s", k) : columns.at("frequency_hz", k);
    if (name.empty() || !mt::is_in_frequency_range(frequency_hz))
      throw core::FormatError(
          "io::survey::read_rows_csv#wrong_row",
          "{}: row {}: expected the name of a site and a frequency from {:g} to {:g} Hz, got "
          "\"{}\" and {:g} Hz",
          path, k + 1, mt::least_frequency_hz, mt::largest_frequency_hz, text::printable(name), frequency_hz);
    auto found = std::ranges::find(stations, name, [](const StationData& s) { return s.site.name; });
    if (found == stations.end()) {
      StationData station;
      station.site = {.name = name,
                      .y_m = mt::not_given,
                      .latitude_deg = columns.at("latitude_deg", k),
                      .longitude_deg = columns.at("longitude_deg", k),
                      .elevation_m = columns.at("elevation_m", k)};
      station.path = path;
      station.format = "CSV";
      station.units_in_file = "ohm";
      found = stations.insert(stations.end(), std::move(station));
    }
    const std::size_t n_before = found->rows.size();
    StationRow& row = found->row_at(frequency_hz);
    if (found->rows.size() == n_before)
      throw core::FormatError("io::survey::read_rows_csv#repeated_frequency",
                              "{}: row {}: expected each frequency of site {} once, got {} Hz again", path,
                              k + 1, name, frequency_hz);
    row = row_of(columns, k, frequency_hz);
  }
  for (StationData& station : stations) station.sort();
  return stations;
}

}  // namespace lodestone::io::survey
