// SPDX-License-Identifier: Apache-2.0
#include "models/earths/section_lines.hpp"

#include <algorithm>

namespace lodestone::models::earths {
namespace {

constexpr int lines_per_column = 8;

/// Returns the depths at which a vertical line crosses an outline, in increasing order; two and two enclose
/// its inside.
std::vector<double> crossings(const std::vector<physics::mesh::Point>& outline, double y_m) {
  std::vector<double> depths;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const physics::mesh::Point a = outline[i], b = outline[(i + 1) % outline.size()];
    if ((a.y_m <= y_m) != (b.y_m <= y_m))
      depths.push_back(a.z_m + (b.z_m - a.z_m) * (y_m - a.y_m) / (b.y_m - a.y_m));
  }
  std::ranges::sort(depths);
  return depths;
}

}  // namespace

SectionLines section_lines(const TensorGrid& grid, double section_width_m, Draws& draws) {
  const bool is_column = grid.n_y() == 1;
  const double asked = section_width_m > 0.0 ? section_width_m
                       : is_column           ? grid.z_edges_m().back()
                                             : grid.extent().y_m.length();
  SectionLines lines{std::max(asked, grid.extent().y_m.length()), {}, grid.n_y()};
  const double left = draws.uniform({0.0, lines.width_m - grid.extent().y_m.length()});
  const int n = is_column ? 1 : lines_per_column;
  for (std::size_t iy = 0; iy + 1 < grid.y_edges_m().size(); ++iy) {
    for (int k = 0; k < n; ++k)
      lines.y_m.push_back(left + grid.y_edges_m()[iy] +
                          (grid.y_edges_m()[iy + 1] - grid.y_edges_m()[iy]) * (k + 0.5) / n);
  }
  return lines;
}

Eigen::VectorXd cell_averages(const Layers& layers, const std::vector<double>& depth_m) {
  Eigen::VectorXd averages(std::ssize(depth_m) - 1);
  std::size_t layer = 0;
  for (std::size_t iz = 0; iz + 1 < depth_m.size(); ++iz) {
    double sum = 0.0;
    for (double from = depth_m[iz]; from < depth_m[iz + 1];) {
      while (layer < layers.interface_m.size() && layers.interface_m[layer] <= from) ++layer;
      const double to = layer < layers.interface_m.size()
                            ? std::min(layers.interface_m[layer], depth_m[iz + 1])
                            : depth_m[iz + 1];
      sum += (to - from) * layers.value[layer];
      from = to;
    }
    averages[static_cast<Eigen::Index>(iz)] = sum / (depth_m[iz + 1] - depth_m[iz]);
  }
  return averages;
}

Eigen::MatrixXd cell_shares(const std::vector<physics::mesh::Point>& outline, const TensorGrid& grid,
                            const SectionLines& lines) {
  Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(grid.n_z(), grid.n_y());
  for (std::size_t k = 0; k < lines.y_m.size(); ++k) {
    const std::vector<double> depths = crossings(outline, lines.y_m[k]);
    if (depths.empty()) continue;
    Layers inside{depths, {0.0}};
    for (std::size_t i = 0; i < depths.size(); ++i) inside.value.push_back(i % 2 == 0 ? 1.0 : 0.0);
    shares.col(static_cast<Eigen::Index>(k) / lines.n_per_column()) +=
        cell_averages(inside, grid.z_edges_m());
  }
  return shares / static_cast<double>(lines.n_per_column());
}

}  // namespace lodestone::models::earths
