// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"

#include <array>
#include <vector>

namespace lodestone::physics::mesh {

/// The face between two cells that are neighbours along an axis.
struct Face {
  Eigen::Index a, b;  ///< the cells, b behind a along the normal
  Axis normal;
  double area;      ///< m² in 3-D, m in 2-D, 1 in 1-D
  double distance;  ///< between the two centres, m
  double depth_m;   ///< that of its middle, in the grid's z
};

/// The cells of a grid as a set of centres, volumes and faces, the same for 1 to 3 dimensions. Coordinates
/// are those of the grid: depths of a draped grid count from the surface.
struct Cells {
  TensorGrid grid;
  std::vector<Point> centre;  ///< 0 along a missing axis
  Eigen::VectorXd volume;     ///< m, m² or m³
  std::vector<Face> faces;    ///< by axis x, y, z, then by cell a, so that sums keep their order
  std::vector<int> column;    ///< the number of the column, iy·n_x + ix, alike for cells below each other
  std::array<int, 3> shape{1, 1, 1};  ///< (n_z, n_y, n_x)
  Box extent;                         ///< without bounds along a missing axis

  [[nodiscard]] Eigen::Index n_cells() const { return grid.n_cells(); }
  /// Returns the cell that holds a point, −1 outside.
  [[nodiscard]] Eigen::Index at(const Point& point) const { return grid.at(point); }
  /// Returns the length of the largest side of the extent, in m.
  [[nodiscard]] double longest_side_m() const;
  /// Returns the cells with their centre in a shape, in order.
  [[nodiscard]] std::vector<Eigen::Index> inside(const Shape& region) const;
};

/// Makes the cells of a grid. cost: O(n_cells).
[[nodiscard]] Cells cells(const TensorGrid& grid);
[[nodiscard]] Cells cells(const Earth& earth);

}  // namespace lodestone::physics::mesh
