// SPDX-License-Identifier: Apache-2.0
#include "io/report/residual_maps.hpp"

#include "engine/core/error.hpp"
#include "io/report/map_sheet.hpp"
#include "physics/mt/datum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace lodestone::io::report {

namespace mesh = physics::mesh;
namespace mt = physics::mt;

namespace {

constexpr std::size_t most_periods = 4;
constexpr double residual_limit = 4.0;  // of the colours, as in pseudosections
constexpr double least_rms_limit = 2.0, largest_rms_limit = 10.0;
constexpr int rms_columns = 3;
constexpr double unused_radius = 1.3, least_radius = 2.4, largest_radius = 6.5;

/// A type of datum, which has a sheet of its own.
struct Type {
  std::string name, title;
  friend auto operator<=>(const Type&, const Type&) = default;
};

const mt::DatumRule* rule_named(const std::string& quantity) {
  const auto rules = mt::datum_rules();
  const auto rule = std::ranges::find(rules, std::string_view(quantity), &mt::DatumRule::name);
  return rule == rules.end() ? nullptr : &*rule;
}

Type type_of(const std::string& quantity) {
  const mt::DatumRule* rule = rule_named(quantity);
  if (rule == nullptr) return {"other", "Other data"};
  switch (rule->floor) {
    case mt::FloorKind::impedance:
      return {"impedance", "Impedance"};
    case mt::FloorKind::log10_rho:
    case mt::FloorKind::phase:
      return {"rho_phase", "Apparent resistivity and phase"};
    case mt::FloorKind::tipper:
      return {"tipper", "Tipper"};
    case mt::FloorKind::phase_tensor:
      return {"phase_tensor", "Phase tensor"};
    case mt::FloorKind::interstation:
      return {"interstation", "Inter-station function"};
  }
  return {"other", "Other data"};
}

std::string label_of_quantity(const std::string& quantity) {
  const mt::DatumRule* rule = rule_named(quantity);
  return rule == nullptr ? quantity : std::string(rule->label);
}

/// The order of quantities on a sheet: by element xx, xy, yx, yy and within it as in the table of data.
std::vector<std::string> in_order(const std::set<std::string>& quantities) {
  std::vector<std::string> order(quantities.begin(), quantities.end());
  const auto place = [](const std::string& quantity) {
    const mt::DatumRule* rule = rule_named(quantity);
    if (rule == nullptr) return std::pair{std::string("z"), std::ptrdiff_t{0}};
    const std::string_view label = rule->label;
    const std::size_t n = label.size();
    std::string element(label.substr(n - std::min<std::size_t>(n, 2)));
    return std::pair{std::move(element), rule - mt::datum_rules().data()};
  };
  std::ranges::sort(order, {}, place);
  return order;
}

/// Residuals by site of one quantity at one period.
using BySite = std::map<std::string, double>;

/// The residuals of an outcome on the map.
struct MapData {
  std::vector<mesh::Site> sites;
  MapExtent extent;
  MapAxes axes;
  std::map<std::string, std::map<double, BySite>> residuals;  // of data used, by quantity and period
  std::set<std::string> quantities;                           // of all data
};

bool has_columns(const core::Table& key) {
  return key.has("quantity") && !key.column("quantity").is_numbers() && key.has("site") &&
         !key.column("site").is_numbers() && key.has("period_s") && key.column("period_s").is_numbers();
}

MapData map_data(const inversion::Outcome& outcome) {
  if (outcome.model.earth.grid.dimension() != 3)
    throw core::InvalidArgument("io::report::residual_maps#not_a_volume",
                                "expected a model with the axes x, y and z, but its grid has {} axes; draw "
                                "pseudosections instead",
                                outcome.model.earth.grid.dimension());
  MapData data{map_sites(outcome), {}, map_axes(outcome.frame), {}, {}};
  const core::Table& key = outcome.data.key();
  if (!has_columns(key) || data.sites.empty()) return data;
  data.extent = extent_around(data.sites, outcome.model.earth.grid);
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  for (Eigen::Index row = 0; row < outcome.data.size(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    const std::string& quantity = key.texts("quantity")[at];
    data.quantities.insert(quantity);
    if (std::isfinite(residual[row]))
      data.residuals[quantity][key.numbers("period_s")[at]][key.texts("site")[at]] = residual[row];
  }
  return data;
}

std::map<Type, std::set<std::string>> types_of(const MapData& data) {
  std::map<Type, std::set<std::string>> types;
  for (const std::string& quantity : data.quantities) types[type_of(quantity)].insert(quantity);
  return types;
}

/// Returns periods from the shortest to the longest with enough data of these quantities, evenly apart in
/// their order.
std::vector<double> periods_of(const MapData& data, const std::set<std::string>& quantities) {
  std::map<double, std::size_t> counts;
  std::size_t most = 0;
  for (const std::string& quantity : quantities) {
    const auto found = data.residuals.find(quantity);
    if (found == data.residuals.end()) continue;
    for (const auto& [period_s, sites] : found->second)
      most = std::max(most, counts[period_s] += sites.size());
  }
  std::vector<double> enough, chosen;
  for (const auto& [period_s, count] : counts)
    if (2 * count >= most) enough.push_back(period_s);
  const std::size_t n = std::min(most_periods, enough.size());
  for (std::size_t k = 0; k < n; ++k)
    chosen.push_back(enough[n > 1 ? (k * (enough.size() - 1) + (n - 1) / 2) / (n - 1) : 0]);
  return chosen;
}

double rms_of(const BySite& values) {
  inversion::RmsSum sum;
  for (const auto& [site, value] : values) sum.add(value);
  return sum.rms();
}

/// A scale of colours for numbers at sites.
struct SiteColours {
  const ColourMap& map;
  double low, high;
  Axis axis;
};

/// One map of a sheet.
struct SiteMap {
  std::string title;
  BySite values;
};

Canvas draw_maps(const MapData& data, const std::vector<SiteMap>& maps, int n_columns,
                 const std::string& title, const std::string& remark, const SiteColours& colours) {
  const MapSheet sheet(data.extent, data.axes, static_cast<int>(maps.size()), n_columns);
  Canvas canvas(sheet.used_width(), sheet.height());
  sheet.draw_title(canvas, title, remark);
  double least = NAN, most = NAN;
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const Frame frame = sheet.frame(static_cast<int>(k));
    std::vector<Point> places;
    for (const mesh::Site& site : data.sites) places.push_back(sheet.at(frame, site.at.x_m, site.at.y_m));
    const double radius = mark_radius(places, least_radius, largest_radius);
    for (std::size_t s = 0; s < places.size(); ++s) {
      const auto value = maps[k].values.find(data.sites[s].name);
      if (value == maps[k].values.end()) {
        canvas.circle(places[s], unused_radius, {grey, {}});
        continue;
      }
      least = std::fmin(least, value->second);
      most = std::fmax(most, value->second);
      canvas.circle(places[s], radius,
                    {colours.map.at((value->second - colours.low) / (colours.high - colours.low)),
                     Stroke{ink, 0.6, {}}});
    }
    sheet.draw_frame(canvas, static_cast<int>(k), maps[k].title);
  }
  draw_colour_bar(canvas, sheet.colour_bar(), colours.map, colours.axis,
                  Clipped::of(least, most, colours.low, colours.high));
  return canvas;
}

std::string rms_text(double rms) {
  return std::isfinite(rms) ? fmt::format("rms {:.2f}", rms) : std::string("no data used");
}

Canvas sheet_of(const MapData& data, const Type& type, const std::set<std::string>& quantities) {
  const std::vector<double> periods = periods_of(data, quantities);
  std::vector<SiteMap> maps;
  for (const std::string& quantity : in_order(quantities)) {
    for (const double period_s : periods) {
      SiteMap map;
      if (const auto found = data.residuals.find(quantity); found != data.residuals.end())
        if (const auto at = found->second.find(period_s); at != found->second.end()) map.values = at->second;
      map.title = fmt::format("{}, {}: {}", label_of_quantity(quantity), period_text(period_s),
                              rms_text(rms_of(map.values)));
      maps.push_back(std::move(map));
    }
  }
  return draw_maps(data, maps, static_cast<int>(periods.size()), type.title + " residuals",
                   "(observed − predicted) / error;  small and grey: no datum, or not used",
                   {residual_colours(),
                    -residual_limit,
                    residual_limit,
                    {residual_limit, -residual_limit, Scale::linear, "errors", TickLabels::shown, 4}});
}

/// Returns the rms of each site over the data of some quantities.
SiteMap site_rms(const MapData& data, const std::string& title, const std::set<std::string>& quantities) {
  std::map<std::string, inversion::RmsSum> sums;
  inversion::RmsSum all;
  for (const std::string& quantity : quantities) {
    const auto found = data.residuals.find(quantity);
    if (found == data.residuals.end()) continue;
    for (const auto& [period_s, sites] : found->second) {
      for (const auto& [site, value] : sites) {
        sums[site].add(value);
        all.add(value);
      }
    }
  }
  SiteMap map{fmt::format("{}: {}", title, rms_text(all.rms())), {}};
  for (const auto& [site, sum] : sums) map.values[site] = sum.rms();
  return map;
}

}  // namespace

std::vector<ResidualSheet> residual_maps(const inversion::Outcome& outcome) {
  const MapData data = map_data(outcome);
  std::vector<ResidualSheet> sheets;
  for (const auto& [type, quantities] : types_of(data)) {
    if (periods_of(data, quantities).empty()) continue;
    sheets.push_back({type.name, type.title, sheet_of(data, type, quantities)});
  }
  return sheets;
}

Canvas site_misfit_maps(const inversion::Outcome& outcome) {
  const MapData data = map_data(outcome);
  if (data.residuals.empty()) return {MapSheet::width, 0.0};
  std::vector<SiteMap> maps{site_rms(data, "All data", data.quantities)};
  const auto types = types_of(data);
  if (types.size() > 1)
    for (const auto& [type, quantities] : types) maps.push_back(site_rms(data, type.title, quantities));
  double most = least_rms_limit;
  for (const auto& [site, rms] : maps.front().values) most = std::max(most, std::ceil(rms));
  most = std::min(most, largest_rms_limit);
  return draw_maps(data, maps, std::min(rms_columns, std::max(2, static_cast<int>(maps.size()))),
                   "Misfit of the sites", "small and grey: no data used",
                   {phase_colours(), 0.0, most, {most, 0.0, Scale::linear, "rms", TickLabels::shown, 4}});
}

Canvas distortion_maps(const inversion::Outcome& outcome) {
  const inversion::NamedTable* found = outcome.table("distortion");
  const MapData data = map_data(outcome);
  if (found == nullptr || data.sites.empty()) return {MapSheet::width, 0.0};
  const core::Table& table = found->table;
  const std::vector<std::string>& sites = table.texts("site");
  std::vector<SiteMap> maps;
  double most = 0.0;
  for (const auto& [entry, of_identity] : {std::pair{"xx", 1.0}, {"xy", 0.0}, {"yx", 0.0}, {"yy", 1.0}}) {
    SiteMap map{fmt::format("C{}{}", entry, of_identity > 0.0 ? " − 1" : ""), {}};
    const std::vector<double>& values = table.numbers(fmt::format("c_{}", entry));
    inversion::RmsSum sum;
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const double value = values[k] - of_identity;
      map.values[sites[k]] = value;
      sum.add(value);
      most = std::max(most, std::abs(value));
    }
    map.title += ": " + rms_text(sum.rms());
    maps.push_back(std::move(map));
  }
  most = std::clamp(std::ceil(10.0 * most) / 10.0, 0.1, 2.0);
  return draw_maps(
      data, maps, 2, "Galvanic distortion of the sites", "small and grey: no matrix",
      {residual_colours(), -most, most, {most, -most, Scale::linear, "C − 1", TickLabels::shown, 4}});
}

}  // namespace lodestone::io::report
