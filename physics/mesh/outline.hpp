// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace lodestone::physics::mesh {

/// A cell in true position, by the numbers of its corners in the outline.
struct OutlineCell {
  Eigen::Index cell = 0;  ///< its index in the grid; −1: water
  /// 1-D: top, bottom. 2-D: around the cell, from the upper left down; three where water ends at the coast.
  /// 3-D: the lower four around (x, y), (x, y+), (x+, y+), (x+, y), then those above them; a wedge of three
  /// and three where water ends at the coast.
  std::vector<std::size_t> corners;
};

/// The cells of an earth in true position, as they are drawn: draped on the surface or cut by it, and the
/// water. Cells of the grid that lie wholly above the surface have no thickness and are left out.
struct Outline {
  int dimension = 0;
  std::vector<Point> corners;      ///< z from the datum
  std::vector<OutlineCell> cells;  ///< those of the grid by index, then water by column
  /// Returns the places of the corners of one cell.
  [[nodiscard]] std::vector<Point> corners_of(const OutlineCell& cell) const;
};

/// Makes the outline of an earth. Water lies above each column from the level of the sea to its floor, which
/// is straight between the edges of the column.
[[nodiscard]] Outline outline(const Earth& earth);

}  // namespace lodestone::physics::mesh
