// SPDX-License-Identifier: Apache-2.0
#include "models/earths/layered.hpp"

#include "engine/core/error.hpp"
#include "models/earths/section_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::models::earths {
namespace {

constexpr double radian = std::numbers::pi / 180.0;

struct Interface {
  double depth_m = 0.0;
  double relief_m = 0.0, length_m = 1.0, phase = 0.0;
  [[nodiscard]] double at(double y_m) const {
    return depth_m + relief_m * std::sin(2.0 * std::numbers::pi * y_m / length_m + phase);
  }
};

struct Earth {
  std::vector<Interface> interfaces;
  std::vector<double> values;
  double slope = 0.0, middle_m = 0.0;

  [[nodiscard]] Layers along(double y_m) const {
    Layers layers{{}, values};
    double above = 0.0;
    for (const Interface& each : interfaces) {
      above = std::max(above, each.at(y_m) + slope * (y_m - middle_m));
      layers.interface_m.push_back(above);
    }
    return layers;
  }
};

void check_layers(const LayeredOptions& options) {
  for (std::size_t i = 0; i < options.layers.size(); ++i) {
    const std::string name = fmt::format("layer {}", i + 1);
    if (i + 1 < options.layers.size())
      check_positive(options.layers[i].thickness_m, "thickness_m of " + name);
    check_log10(options.layers[i].log10_resistivity, "log10_resistivity of " + name);
  }
  if (!options.layers.empty()) return;
  check(options.number, "the number of layers", 1);
  if (options.number.upper > 1) check_positive(options.thickness_m, "thickness_m");
  check_log10(options.log10_resistivity, "log10_resistivity");
}

Earth draw_earth(const LayeredOptions& options, double section_width_m, Draws& draws) {
  const bool alike = options.layers.empty();
  const int n = alike ? draws.integer(options.number) : static_cast<int>(options.layers.size());
  Earth earth;
  double depth = 0.0;
  for (int i = 0; i < n; ++i) {
    const LayeredOptions::Layer layer =
        alike ? LayeredOptions::Layer{options.thickness_m, options.log10_resistivity} : options.layers[i];
    earth.values.push_back(draws.uniform(layer.log10_resistivity));
    if (i + 1 == n) break;
    earth.interfaces.push_back({depth += draws.log_uniform(layer.thickness_m)});
    if (!(options.relief_m.upper > 0.0)) continue;
    earth.interfaces.back().relief_m = draws.uniform(options.relief_m);
    earth.interfaces.back().length_m = draws.log_uniform(options.relief_length_m);
    earth.interfaces.back().phase = draws.uniform({0.0, 2.0 * std::numbers::pi});
  }
  earth.slope = std::tan(radian * draws.uniform(options.dip_deg));
  earth.middle_m = 0.5 * section_width_m;
  return earth;
}

/// Returns the averages of an earth that varies along one direction of any azimuth over the columns of a
/// volume. shape: → (n_z, n_columns).
Eigen::MatrixXd in_volume(const Earth& earth, const TensorGrid& grid, Draws& draws) {
  constexpr int n = 4;  // lines each way per column
  const double azimuth = draws.uniform({0.0, 2.0 * std::numbers::pi});
  const auto place = [&](physics::mesh::Axis axis, int i, int k) {
    return grid.edges_m(axis)[static_cast<std::size_t>(i)] + grid.width_m(axis, i) * (k + 0.5) / n -
           0.5 * grid.edges_m(axis).back();
  };
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(grid.n_z(), grid.n_columns());
  for (int column = 0; column < grid.n_columns(); ++column) {
    for (int k = 0; k < n * n; ++k) {
      const double x = place(physics::mesh::Axis::x, column % grid.n_x(), k % n),
                   y = place(physics::mesh::Axis::y, column / grid.n_x(), k / n);
      columns.col(column) += cell_averages(
          earth.along(earth.middle_m + y * std::cos(azimuth) + x * std::sin(azimuth)), grid.z_edges_m());
    }
  }
  return columns / (n * n);
}

}  // namespace

Layered::Layered(LayeredOptions options) : options_(std::move(options)) {
  check_layers(options_);
  check(options_.dip_deg, "dip_deg", -80.0);
  if (options_.dip_deg.upper > 80.0)
    throw core::InvalidArgument("models::Layered#dip_out_of_range", "expected dip_deg within ±80, got {:g}",
                                options_.dip_deg.upper);
  check(options_.relief_m, "relief_m", 0.0);
  if (options_.relief_m.upper > 0.0) check_positive(options_.relief_length_m, "relief_length_m");
}

Eigen::MatrixXd Layered::draw(const core::Philox& random, const TensorGrid& grid) const {
  Draws draws(random);
  const SectionLines lines = section_lines(grid, 0.0, draws);
  const Earth earth = draw_earth(options_, lines.width_m, draws);
  if (earth.slope == 0.0 && !(options_.relief_m.upper > 0.0)) {
    return cell_averages(earth.along(0.0), grid.z_edges_m()).replicate(1, grid.n_columns());
  }
  if (grid.has(physics::mesh::Axis::x)) return in_volume(earth, grid, draws);
  Eigen::MatrixXd section = Eigen::MatrixXd::Zero(grid.n_z(), grid.n_y());
  for (std::size_t k = 0; k < lines.y_m.size(); ++k) {
    section.col(static_cast<Eigen::Index>(k) / lines.n_per_column()) +=
        cell_averages(earth.along(lines.y_m[k]), grid.z_edges_m());
  }
  return section / static_cast<double>(lines.n_per_column());
}

}  // namespace lodestone::models::earths
