// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/grid_design.hpp"

#include "engine/core/median.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

/// Returns the distance of a place along a profile from the nearest station.
double from_station(double y_m, const std::vector<Station>& stations) {
  double least = std::numeric_limits<double>::infinity();
  for (const Station& station : stations) least = std::min(least, std::abs(station.y_m - y_m));
  return least;
}

/// Moves inner edges of uniform columns away from stations: as little as brings them a share of the width
/// apart, or as far as can be. Across an edge E of the TM mode jumps. The response of a station beside it
/// says little of either cell.
void clear_stations(std::vector<double>& edges, double width_m, const std::vector<Station>& stations) {
  constexpr double wanted = 0.25, step = 0.05;  // of the width
  constexpr int most_steps = 7;                 // so that no column is narrower than 0.3 of the width
  for (std::size_t i = 1; i + 1 < edges.size(); ++i) {
    double best = edges[i], distance = from_station(best, stations);
    for (int k = 1; k <= most_steps && distance < wanted * width_m; ++k) {
      for (const double moved : {edges[i] - k * step * width_m, edges[i] + k * step * width_m}) {
        const double there = from_station(moved, stations);
        if (there > distance) best = moved, distance = there;
      }
    }
    edges[i] = best;
  }
}

/// Returns uniform edges from one place to another, and beyond both cells that widen by half each.
std::vector<double> with_padding(double from_m, double to_m, int n, double reach_m) {
  constexpr double widening = 1.5;
  const double width_m = (to_m - from_m) / n;
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(from_m + width_m * i);
  for (double beyond_m = 0.0, cell_m = widening * width_m; beyond_m < reach_m; cell_m *= widening) {
    beyond_m += cell_m;
    edges.insert(edges.begin(), from_m - beyond_m);
    edges.push_back(to_m + beyond_m);
  }
  return edges;
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
  return core::median(std::move(values));
}

double usual_distance_m(const std::vector<Station>& stations) {
  std::vector<double> nearest;
  for (const Station& one : stations) {
    double least = std::numeric_limits<double>::infinity();
    for (const Station& other : stations) {
      if (&one != &other) least = std::min(least, std::hypot(one.x_m - other.x_m, one.y_m - other.y_m));
    }
    nearest.push_back(std::isfinite(least) ? least : 0.0);
  }
  return core::median(std::move(nearest));
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
  if (options.n_columns == 0) clear_stations(y_edges, width, stations);
  return TensorGrid::section(std::move(y_edges), layer_edges_m(options, data));
}

mesh::TensorGrid design_volume(const Observations& data, const GridOptions& options) {
  const std::vector<Station>& stations = data.survey.stations;
  const double reach_m =
      skin_depth_m(std::pow(10.0, median_log10_rho(data)), std::ranges::min(data.survey.frequencies_hz));
  const double distance_m = usual_distance_m(stations);
  const auto edges_along = [&](double Station::*axis, int wanted) {
    const auto [first, last] = std::ranges::minmax(stations, {}, axis);
    double from_m = first.*axis, to_m = last.*axis;
    const double margin_m = std::max(options.margin * (to_m - from_m), 0.5 * distance_m);
    // stations along one line, or a lone one, see aside as far as they see down
    const double least_m = stations.size() == 1 ? 0.5 * reach_m : margin_m;
    from_m -= least_m;
    to_m += least_m;
    const double cell_m = 0.5 * (distance_m > 0.0 ? distance_m : to_m - from_m);
    const int n =
        wanted > 0 ? wanted : std::clamp(static_cast<int>(std::ceil((to_m - from_m) / cell_m)), 8, 60);
    return with_padding(from_m, to_m, n, reach_m);
  };
  return TensorGrid({.x_m = edges_along(&Station::x_m, options.n_rows),
                     .y_m = edges_along(&Station::y_m, options.n_columns),
                     .z_m = layer_edges_m(options, data)});
}

}  // namespace lodestone::physics::mt
