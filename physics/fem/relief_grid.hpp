// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/fem/edge_grid.hpp"

namespace lodestone::physics::fem {

/// A grid of hexahedra in vertical columns whose layers follow a relief.
///
/// Its numbers and neighbours are those of a tensor grid, `lines()`: lines along x and y stand where they do
/// there, and each node has a depth of its own. The z lines of `lines()` are those of a level place. Cells
/// are images of a cube by trilinear functions.
class ReliefGrid {
 public:
  using Index = EdgeGrid::Index;
  /// Takes the depth of each node, z down. shapes: z (n_nodes). errors: ShapeError; InvalidArgument unless
  /// depths are finite and increase down each column.
  ReliefGrid(EdgeGrid lines, Eigen::VectorXd node_z_m);
  /// Makes the grid whose nodes lie on the lines.
  explicit ReliefGrid(const EdgeGrid& lines);

  [[nodiscard]] const EdgeGrid& lines() const { return lines_; }
  [[nodiscard]] const Eigen::VectorXd& node_z_m() const { return z_m_; }
  [[nodiscard]] double z_m(int i, int j, int k) const { return z_m_[lines_.node(i, j, k)]; }
  /// Returns how much deeper an edge along x or y ends than it begins, over its length in plan.
  [[nodiscard]] double slope(int axis, int i, int j, int k) const {
    return (z_m(i + (axis == 0), j + (axis == 1), k) - z_m(i, j, k)) /
           lines_.width_m(axis, axis == 0 ? i : j);
  }
  /// Returns the length of the vertical edge below a node.
  [[nodiscard]] double height_m(int i, int j, int k) const { return z_m(i, j, k + 1) - z_m(i, j, k); }
  [[nodiscard]] double volume_m3(int i, int j, int k) const;
  /// Returns the largest slope of an edge on a layer of nodes, a tangent.
  [[nodiscard]] double steepest(int k) const;
  /// Returns the grid of fewer lines, whose nodes keep their depths. shapes: `kept` numbers of lines.
  [[nodiscard]] ReliefGrid subset(const std::array<std::vector<int>, 3>& kept) const;

 private:
  EdgeGrid lines_;
  Eigen::VectorXd z_m_;
};

/// The geometry at one of the eight corners of a cell, a quadrature point of weight 1/8.
struct Corner {
  std::array<EdgeGrid::Index, 3> edges, faces;  ///< those that meet there, along and normal to x, y and z
  double hx, hy, hz;                            ///< widths in plan and length of the vertical edge
  double p, q;                                  ///< slopes ∂z/∂x and ∂z/∂y of the edges
  using Matrix = std::array<std::array<double, 3>, 3>;
  /// Returns the product of two curls of E as a form on the circulations around the three faces, 1/m.
  [[nodiscard]] Matrix stiffness() const;
  /// Returns the product of two fields as a form on the circulations along the three edges, m.
  [[nodiscard]] Matrix mass() const;
};
/// Returns the corner (a, b, c) of a cell, each 0 or 1.
[[nodiscard]] Corner corner_of(const ReliefGrid& grid, std::array<int, 3> cell, std::array<int, 3> at);

/// Calls visit(a, b, c) for the corners of a cube.
template <class Visit>
void for_each_corner(Visit visit) {
  for (int c = 0; c < 2; ++c) {
    for (int b = 0; b < 2; ++b) {
      for (int a = 0; a < 2; ++a) visit(std::array<int, 3>{a, b, c});
    }
  }
}

}  // namespace lodestone::physics::fem
