// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/relief_grid.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::fem {

namespace {

Eigen::VectorXd level_nodes(const EdgeGrid& lines) {
  Eigen::VectorXd z(lines.n_nodes());
  for_each_node(lines, [&](int i, int j, int k) { z[lines.node(i, j, k)] = lines.lines_m(2)[k]; });
  return z;
}

}  // namespace

ReliefGrid::ReliefGrid(EdgeGrid lines, Eigen::VectorXd node_z_m)
    : lines_(std::move(lines)), z_m_(std::move(node_z_m)) {
  if (z_m_.size() != lines_.n_nodes())
    throw core::ShapeError("fem::ReliefGrid#wrong_size", "expected depths of {} nodes, got {}",
                           lines_.n_nodes(), z_m_.size());
  for_each_node(lines_, [this](int i, int j, int k) {
    if (!std::isfinite(z_m(i, j, k)) || (k > 0 && !(height_m(i, j, k - 1) > 0.0)))
      throw core::InvalidArgument("fem::ReliefGrid#not_increasing",
                                  "expected finite depths that increase downwards, got {} m at node {} of "
                                  "the column at x = {} m, y = {} m",
                                  z_m(i, j, k), k, lines_.lines_m(0)[i], lines_.lines_m(1)[j]);
  });
}

ReliefGrid::ReliefGrid(const EdgeGrid& lines) : ReliefGrid(lines, level_nodes(lines)) {}

double ReliefGrid::volume_m3(int i, int j, int k) const {
  const double heights =
      height_m(i, j, k) + height_m(i + 1, j, k) + height_m(i, j + 1, k) + height_m(i + 1, j + 1, k);
  return 0.25 * heights * lines_.width_m(0, i) * lines_.width_m(1, j);
}

double ReliefGrid::steepest(int k) const {
  double most = 0.0;
  for (int axis = 0; axis < 2; ++axis) {
    for (int j = 0; j < lines_.n(1) + (axis == 0); ++j) {
      for (int i = 0; i < lines_.n(0) + (axis == 1); ++i)
        most = std::max(most, std::abs(slope(axis, i, j, k)));
    }
  }
  return most;
}

ReliefGrid ReliefGrid::subset(const std::array<std::vector<int>, 3>& kept) const {
  std::array<std::vector<double>, 3> lines;
  for (int axis = 0; axis < 3; ++axis) {
    for (const int line : kept[axis]) lines[axis].push_back(lines_.lines_m(axis)[line]);
  }
  EdgeGrid grid(std::move(lines));
  Eigen::VectorXd z(grid.n_nodes());
  for_each_node(
      grid, [&](int i, int j, int k) { z[grid.node(i, j, k)] = z_m(kept[0][i], kept[1][j], kept[2][k]); });
  return {std::move(grid), std::move(z)};
}

// With J the derivatives of (x, y, z) along the edges at the corner, E = J⁻ᵀ ê and curl E = J ĉ/|J|, where ê
// and ĉ are circulations along edges and around faces. The forms are |J| J⁻¹J⁻ᵀ/8 and JᵀJ/(8|J|).

Corner::Matrix Corner::stiffness() const {
  const double xy = p * q / (8.0 * hz), xz = p / (8.0 * hy), yz = q / (8.0 * hx);
  return {{{hx * (1.0 + p * p) / (8.0 * hy * hz), xy, xz},
           {xy, hy * (1.0 + q * q) / (8.0 * hx * hz), yz},
           {xz, yz, hz / (8.0 * hx * hy)}}};
}

Corner::Matrix Corner::mass() const {
  const double xz = -p * hy / 8.0, yz = -q * hx / 8.0;
  return {{{hy * hz / (8.0 * hx), 0.0, xz},
           {0.0, hx * hz / (8.0 * hy), yz},
           {xz, yz, hx * hy * (1.0 + p * p + q * q) / (8.0 * hz)}}};
}

Corner corner_of(const ReliefGrid& grid, std::array<int, 3> cell, std::array<int, 3> at) {
  const EdgeGrid& lines = grid.lines();
  const auto [i, j, k] = cell;
  const int x = i + at[0], y = j + at[1], z = k + at[2];
  return {.edges = {lines.edge(0, i, y, z), lines.edge(1, x, j, z), lines.edge(2, x, y, k)},
          .faces = {lines.face(0, x, j, k), lines.face(1, i, y, k), lines.face(2, i, j, z)},
          .hx = lines.width_m(0, i),
          .hy = lines.width_m(1, j),
          .hz = grid.height_m(x, y, k),
          .p = grid.slope(0, i, y, z),
          .q = grid.slope(1, x, j, z)};
}

}  // namespace lodestone::physics::fem
