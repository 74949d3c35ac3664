// SPDX-License-Identifier: Apache-2.0
#include "io/report/tables.hpp"

#include "io/report/axes.hpp"
#include "io/report/html.hpp"
#include "io/report/map_sheet.hpp"
#include "physics/mt/datum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string percent(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "–";
}

std::string number_or_dash(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

/// Returns the text of λ or of a step; a dash where it does not exist, as for the start model.
std::string positive_or_dash(double value) { return value > 0.0 ? plain_number(value, 3) : "–"; }

std::string extent_text(const std::vector<double>& edges, const LengthUnit& unit) {
  return fmt::format("{:.6g} to {:.6g} {}", edges.front() / unit.metres, edges.back() / unit.metres,
                     unit.name);
}

/// Returns the distinct numbers of a column of the key, sorted.
std::vector<double> distinct(std::vector<double> values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

void add_earth_rows(const physics::mesh::Earth& earth, Rows& rows) {
  const physics::mesh::TensorGrid& grid = earth.grid;
  using physics::mesh::Axis;
  std::vector<std::string> sizes;
  if (grid.has(Axis::x)) sizes.push_back(fmt::format("{} along x", grid.n_x()));
  if (grid.has(Axis::y))
    sizes.push_back(fmt::format("{} {}", grid.n_y(), grid.has(Axis::x) ? "along y" : "columns"));
  sizes.push_back(fmt::format("{} {}", grid.n_z(), grid.dimension() == 2 ? "rows" : "layers"));
  rows.push_back({"Unknowns", fmt::format("{} ({})", grid.n_cells(), fmt::join(sizes, " × "))});
  double longest_m = 0.0;  // one unit for all
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    if (!grid.has(axis)) continue;
    const std::vector<double>& edges = grid.edges_m(axis);
    longest_m = std::max(longest_m, edges.back() - edges.front());
  }
  const LengthUnit unit = length_unit(longest_m);
  std::string extent;
  if (grid.has(Axis::x)) extent += extent_text(grid.edges_m(Axis::x), unit) + " along x, ";
  if (grid.has(Axis::y))
    extent +=
        extent_text(grid.y_edges_m(), unit) + (grid.has(Axis::x) ? " along y, " : " along the profile, ");
  rows.push_back(
      {grid.dimension() == 2 ? "Section" : "Model",
       fmt::format("{}depth {}, {}", extent, extent_text(grid.z_edges_m(), unit),
                   grid.reference() == physics::mesh::DepthReference::surface ? "measured from the surface"
                                                                              : "measured from the datum")});
  rows.push_back({"Surface", earth.surface.is_flat()
                                 ? fmt::format("flat at z = {:.6g} m", earth.surface.z_at(0.0, 0.0))
                                 : "follows the topography"});
}

void add_data_rows(const inversion::Outcome& outcome, Rows& rows) {
  const core::DataSet& data = outcome.data;
  const core::Table& key = data.key();
  if (outcome.sites.n_rows() > 0) rows.push_back({"Stations", std::to_string(outcome.sites.n_rows())});
  if (key.has("period_s") && key.column("period_s").is_numbers() && key.n_rows() > 0) {
    const std::vector<double> periods = distinct(key.numbers("period_s"));
    rows.push_back({"Periods", fmt::format("{} from {} to {}", periods.size(), period_text(periods.front()),
                                           period_text(periods.back()))});
  }
  const auto n = static_cast<double>(data.size()), masked = n - static_cast<double>(data.n_used());
  rows.push_back({"Data", fmt::format("{:.0f}, of which {:.0f} masked ({})", n, masked, percent(masked, n))});
  if (!key.has("interpolated") || !key.column("interpolated").is_numbers()) return;
  const auto n_interpolated = std::ranges::count(key.numbers("interpolated"), 1.0);
  if (n_interpolated > 0) rows.push_back({"Interpolated on request", fmt::format("{} data", n_interpolated)});
}

/// The data of one type, counted by the reason why they are used or not.
struct TypeCounts {
  std::string name{};
  std::vector<long> counts{};
  inversion::RmsSum misfit{};
};

std::vector<TypeCounts> count_types(const inversion::Outcome& outcome) {
  const core::DataSet& data = outcome.data;
  const core::Table& key = data.key();
  const bool has_types = key.has("quantity") && !key.column("quantity").is_numbers();
  const Eigen::VectorXd residual = inversion::normalized_residuals(data, outcome.predicted);
  std::vector<TypeCounts> types;
  for (Eigen::Index row = 0; row < data.size(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    const std::string name = has_types ? key.texts("quantity")[at] : "all";
    auto found = std::ranges::find(types, name, &TypeCounts::name);
    if (found == types.end())
      found = types.insert(types.end(), {name, std::vector<long>(data.reasons().size()), {}});
    ++found->counts[static_cast<std::size_t>(data.reason()[at])];
    found->misfit.add(residual[row]);
  }
  return types;
}

/// The data of one site.
struct SiteCounts {
  std::string name{};
  std::optional<std::size_t> row{};  ///< in the table of sites
  long n_used = 0, n_masked = 0;
  inversion::RmsSum misfit{};
};

/// Counts the data of the known sites along the line, and then of others in the order of the data.
std::vector<SiteCounts> count_sites(const inversion::Outcome& outcome) {
  const core::Table& key = outcome.data.key();
  if (!key.has("site") || key.column("site").is_numbers()) return {};
  std::vector<SiteCounts> sites;
  if (outcome.sites.has("name")) {
    std::vector<std::size_t> order(outcome.sites.n_rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (outcome.sites.has("y_m"))
      std::ranges::stable_sort(order, {}, [&](std::size_t k) { return outcome.sites.numbers("y_m")[k]; });
    for (const std::size_t k : order) sites.push_back({.name = outcome.sites.texts("name")[k], .row = k});
  }
  std::map<std::string, std::size_t> place;
  for (std::size_t k = 0; k < sites.size(); ++k) place.emplace(sites[k].name, k);
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  for (Eigen::Index row = 0; row < outcome.data.size(); ++row) {
    const std::string& name = key.texts("site")[static_cast<std::size_t>(row)];
    const auto [found, is_new] = place.emplace(name, sites.size());
    if (is_new) sites.push_back({.name = name});
    SiteCounts& site = sites[found->second];
    ++(outcome.data.is_used(row) ? site.n_used : site.n_masked);
    site.misfit.add(residual[row]);
  }
  return sites;
}

/// A coordinate of the sites as the table of stations shows it.
struct PlaceColumn {
  std::string title;
  std::vector<double> values;
  double unit = 1.0;
  int decimals = 0;
};

/// Returns the coordinates that are known of some site.
std::vector<PlaceColumn> place_columns(const inversion::Outcome& outcome) {
  const core::Table& sites = outcome.sites;
  const bool on_map = outcome.model.earth.grid.dimension() == 3;
  std::vector<PlaceColumn> columns;
  const auto add = [&](const char* name, std::string title, double unit, int decimals) {
    if (!sites.has(name) || !sites.column(name).is_numbers()) return;
    const std::vector<double>& values = sites.numbers(name);
    if (std::ranges::none_of(values, [](double each) { return std::isfinite(each); })) return;
    columns.push_back({std::move(title), values, unit, decimals});
  };
  add("latitude_deg", "latitude (°)", 1.0, 4);
  add("longitude_deg", "longitude (°)", 1.0, 4);
  if (sites.has("y_m") && sites.n_rows() > 0) {
    const auto range = [&](const char* name) {
      const auto [least, most] = std::ranges::minmax(sites.numbers(name));
      return most - least;
    };
    const bool has_map = on_map && sites.has("x_m");
    const LengthUnit unit = length_unit(has_map ? std::max(range("x_m"), range("y_m")) : range("y_m"));
    const int decimals = unit.metres > 1.0 ? 2 : 1;
    const MapAxes axes = map_axes(outcome.frame);
    if (has_map) add("x_m", fmt::format("{} ({})", axes.x, unit.name), unit.metres, decimals);
    const std::string y = on_map ? axes.y : "y along the profile";
    add("y_m", fmt::format("{} ({})", y, unit.name), unit.metres, decimals);
  }
  add("elevation_m", "elevation (m)", 1.0, 0);
  return columns;
}

std::string with_blanks(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// Returns the units of a magnetotelluric datum; "" for others.
std::string units_of_type(const std::string& name) {
  const auto rules = mt::datum_rules();
  const auto rule = std::ranges::find(rules, std::string_view(name), &mt::DatumRule::name);
  return rule == rules.end() ? std::string() : std::string(rule->units);
}

std::string cell_text(const core::Table::Column& column, std::size_t row) {
  if (!column.is_numbers()) return std::get<core::Table::Texts>(column.values)[row];
  const double value = std::get<core::Table::Numbers>(column.values)[row];
  if (column.name == "passed") return value != 0.0 ? "passed" : "not passed";
  return std::isfinite(value) ? plain_number(value) : "–";
}

}  // namespace

std::string summary_table(const inversion::Outcome& outcome) {
  const std::string reason(core::word(outcome.ending.reason));
  Rows rows{{"Misfit", fmt::format("rms {:.3f} over {} real data (target {:.3g})", outcome.ending.rms,
                                   outcome.data.n_used(), outcome.ending.target_rms)},
            {"Stopped because",
             outcome.ending.message.empty() ? reason : fmt::format("{}: {}", reason, outcome.ending.message)},
            {"Iterations", outcome.history.empty() ? "0" : std::to_string(outcome.history.back().iteration)}};
  add_earth_rows(outcome.model.earth, rows);
  add_data_rows(outcome, rows);
  for (const auto& [name, value] : outcome.about.facts) rows.push_back({name, value});
  return html_table({}, rows);
}

std::string warnings_table(const inversion::Outcome& outcome) {
  Rows rows;
  for (const auto& [id, text] : outcome.about.warnings) rows.push_back({text, id});
  return html_table({"Warning", "id"}, rows);
}

std::string station_table(const inversion::Outcome& outcome) {
  const std::vector<SiteCounts> sites = count_sites(outcome);
  if (sites.empty()) return {};
  std::vector<std::string> head{"Station"};
  const std::vector<PlaceColumn> places = place_columns(outcome);
  for (const PlaceColumn& each : places) head.push_back(each.title);
  for (const char* title : {"data used", "masked", "rms"}) head.emplace_back(title);
  Rows rows;
  for (const SiteCounts& site : sites) {
    std::vector<std::string> row{site.name};
    for (const PlaceColumn& each : places)
      row.push_back(site.row ? number_or_dash(each.values[*site.row] / each.unit, each.decimals) : "–");
    row.push_back(std::to_string(site.n_used));
    row.push_back(std::to_string(site.n_masked));
    row.push_back(number_or_dash(site.misfit.rms(), 2));
    rows.push_back(std::move(row));
  }
  return html_table(head, rows);
}

std::string data_table(const inversion::Outcome& outcome) {
  std::vector<std::string> head{"Type of datum", "Unit", "rms"};
  for (const std::string& reason : outcome.data.reasons())
    head.push_back(head.size() == 3 ? "used" : "masked: " + with_blanks(reason));
  head.emplace_back("masked");
  Rows rows;
  for (const TypeCounts& type : count_types(outcome)) {
    const long all = std::accumulate(type.counts.begin(), type.counts.end(), 0L);
    std::vector<std::string> row{type.name, units_of_type(type.name), number_or_dash(type.misfit.rms(), 2)};
    for (const long count : type.counts) row.push_back(std::to_string(count));
    row.push_back(percent(static_cast<double>(all - type.counts.front()), static_cast<double>(all)));
    rows.push_back(std::move(row));
  }
  return html_table(head, rows);
}

std::string table_of(const core::Table& table) {
  std::vector<std::string> head;
  for (const std::string& name : table.names()) head.push_back(with_blanks(name));
  Rows rows;
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    std::vector<std::string> cells;
    for (const core::Table::Column& column : table.columns()) cells.push_back(cell_text(column, row));
    rows.push_back(std::move(cells));
  }
  return html_table(head, rows);
}

std::string learned_prior_table(const inversion::prior::PriorFindings& prior) {
  Rows rows;
  for (std::size_t r = 0; r < prior.regions.size(); ++r) {
    const inversion::prior::RegionFindings& region = prior.regions[r];
    const inversion::prior::PriorFindings::Deviation deviation = prior.deviation(static_cast<int>(r));
    rows.push_back({region.name, region.network,
                    region.decoder == "gaussian" ? "normal distribution of its draws" : region.decoder,
                    region.origin, std::to_string(region.codes.cols()), std::to_string(region.codes.size()),
                    fmt::format("{:.3f}", region.reconstruction_rms_decades),
                    fmt::format("{:.2f}", region.mean_square_code()),
                    prior.polished
                        ? fmt::format("{:.2f} rms, {:.2f} at most", deviation.rms, deviation.largest)
                        : "none: no polish"});
  }
  return html_table({"Region", "network", "decoder", "origin", "subdomains", "codes",
                     "reconstruction rms (decades)", "mean square of the codes", "deviation (decades)"},
                    rows);
}

std::string coverage_table(const inversion::prior::PriorFindings& prior) {
  Rows rows;
  for (const inversion::prior::RegionFindings& region : prior.regions) {
    for (std::size_t s = 0; s < region.coverage.size(); ++s) {
      const inversion::prior::SubdomainCoverage& row = region.coverage[s];
      rows.push_back({region.name, std::to_string(s), fmt::format("{:.3f}", row.distance_decades),
                      fmt::format("{:.2f}", row.relative_distance), fmt::format("{:.2f}", row.chi_square),
                      fmt::format("{:.2g}", row.tail),
                      number_or_dash(row.data_share.value_or(std::nan("")), 2),
                      std::string(core::word(row.verdict))});
    }
  }
  if (rows.empty()) return {};
  return html_table(
      {"Region", "subdomain", "distance (decades)", "of the network's own",
       "mean square of the code (draws: 1)", "draws with a longer one", "share of the data", "verdict"},
      rows);
}

std::string history_table(const inversion::Outcome& outcome) {
  const bool has_stages = std::any_of(outcome.history.begin(), outcome.history.end(),
                                      [](const auto& row) { return row.stage != "cells"; });
  Rows rows;
  for (const inversion::optimize::StagedRecord& row : outcome.history) {
    rows.push_back({std::to_string(row.iteration), std::string(core::word(row.kind)),
                    fmt::format("{:.4f}", row.rms), positive_or_dash(row.lambda), plain_number(row.roughness),
                    positive_or_dash(row.step), std::to_string(row.n_forward), std::to_string(row.n_jacobian),
                    fmt::format("{:.1f}", row.seconds)});
    if (has_stages) rows.back().push_back(row.stage);
  }
  std::vector<std::string> head{"Iteration",     "step",         "rms",       "λ",      "roughness",
                                "share of step", "forward runs", "Jacobians", "seconds"};
  if (has_stages) head.emplace_back("stage");
  return html_table(head, rows);
}

std::string provenance_table(const inversion::Outcome& outcome) {
  const core::Provenance& provenance = outcome.about.provenance;
  Rows rows{{"Version", provenance.version},
            {"Command", provenance.command_line},
            {"Started", provenance.started_utc},
            {"Finished", provenance.finished_utc}};
  for (const auto* facts : {&provenance.host, &provenance.build}) {
    for (const auto& [name, value] : *facts) {
      rows.push_back({name, value});
    }
  }
  return html_table({}, rows);
}

}  // namespace lodestone::io::report
