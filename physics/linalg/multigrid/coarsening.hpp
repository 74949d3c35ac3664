// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: coarser grids of a stretched tensor grid.
#pragma once

#include "physics/fem/relief_grid.hpp"

#include <array>
#include <optional>
#include <vector>

namespace lodestone::physics::linalg::multigrid {

/// A coarser grid. Its line I along an axis is line `fine_line[axis][I]` of the grid it was made of.
struct Coarsening {
  fem::EdgeGrid grid;
  std::array<std::vector<int>, 3> fine_line;
  int ground;          ///< the kept line among those of the coarser grid, −1: none
  double threshold_m;  ///< up to 1.6 times this size cells were merged
};

/// Merges neighbours along each axis by itself: two at most, and only while the merged cell stays below a
/// threshold, which doubles until a level loses three tenths of its cells. So every direction that is strong
/// at a level is coarsened there, and lines along z are all that must be relaxed. Returns nothing for a grid
/// of four inner vertical lines or fewer.
[[nodiscard]] std::optional<Coarsening> coarser(const fem::EdgeGrid& fine, int ground, double threshold_m);
/// Returns the size at which the first level begins, that of the smallest horizontal cell.
[[nodiscard]] double first_threshold_m(const fem::EdgeGrid& grid);

/// Returns the volume means of a number per cell. Means per direction fail on rough models.
[[nodiscard]] Eigen::VectorXd volume_means(const fem::EdgeGrid& fine, const Coarsening& coarse,
                                           const Eigen::VectorXd& values);
/// Returns those of a relief, whose cells keep their own volumes.
[[nodiscard]] Eigen::VectorXd volume_means(const fem::ReliefGrid& fine, const Coarsening& coarse,
                                           const Eigen::VectorXd& values);
/// Returns the mass of each edge: Σ over its four cells of the number per cell, times a quarter of the area
/// across the edge over its length.
[[nodiscard]] Eigen::VectorXd edge_masses(const fem::EdgeGrid& grid, const Eigen::VectorXd& values);

}  // namespace lodestone::physics::linalg::multigrid
