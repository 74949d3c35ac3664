// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/grid_design.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mt {
namespace {

using mesh::TensorGrid;

constexpr double default_resistivity_ohm_m = 100.0;  // where the data give no apparent resistivity

/// Returns two columns per station gap, between 20 and 200.
int default_columns(const Observations& data) {
  return std::clamp(2 * static_cast<int>(data.survey.stations.size()), 20, 200);
}

std::vector<double> layer_edges_m(const GridOptions& options, const Observations& data) {
  const auto [lowest, highest] = std::ranges::minmax(data.survey.frequencies_hz);
  const double resistivity = std::pow(10.0, median_log10_rho(data));
  const double first_m =
      options.first_layer_m > 0.0 ? options.first_layer_m : 0.05 * skin_depth_m(resistivity, highest);
  int n = options.n_layers;
  if (n == 0) {
    const double bottom_m = 1.5 * skin_depth_m(resistivity, lowest);
    double depth = first_m, thickness = first_m;
    for (n = 1; depth < bottom_m && n < 200; ++n) depth += (thickness *= options.layer_factor);
  }
  return mesh::geometric_edges_m(first_m, options.layer_factor, n);
}

}  // namespace

double median_log10_rho(const Observations& data) {
  std::vector<double> values;
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const Datum quantity = data.survey.keys[i].quantity;
    const bool is_rho = rule_of(quantity).floor == FloorKind::log10_rho;
    if (is_rho && data.reason[i] == MaskReason::kept)
      values.push_back(data.value[static_cast<Eigen::Index>(i)]);
  }
  if (values.empty()) return std::log10(default_resistivity_ohm_m);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

mesh::TensorGrid design_grid(const Observations& data, const GridOptions& options) {
  const auto& stations = data.survey.stations;
  const auto [first, last] = std::ranges::minmax(stations, {}, &Station::y_m);
  const double bottom_m =
      skin_depth_m(std::pow(10.0, median_log10_rho(data)), std::ranges::min(data.survey.frequencies_hz));
  const double length_m = last.y_m > first.y_m
                              ? last.y_m - first.y_m
                              : 2.0 * bottom_m;  // a lone station sees as far as it sees down
  const double overhang_m = last.y_m > first.y_m ? options.margin * length_m : 0.5 * length_m;
  const int n = options.n_columns > 0 ? options.n_columns : default_columns(data);
  std::vector<double> y_edges(static_cast<std::size_t>(n) + 1);
  const double left = first.y_m - overhang_m, width = (last.y_m + overhang_m - left) / n;
  for (int i = 0; i <= n; ++i) y_edges[static_cast<std::size_t>(i)] = left + width * i;
  return TensorGrid::section(std::move(y_edges), layer_edges_m(options, data));
}

}  // namespace lodestone::physics::mt
