// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lodestone::models::earths {

/// The cells of one subdomain: interfaces below the surface and, for patches, across the profile.
struct PatchGrid {
  std::vector<double> depth_m;  ///< interfaces, increasing, n_z + 1; the first may lie below the surface
  std::vector<double> y_m;      ///< edges of the columns from 0, n_y + 1; a single column has {0, width}
  [[nodiscard]] Eigen::Index n_z() const { return std::ssize(depth_m) - 1; }
  [[nodiscard]] Eigen::Index n_y() const { return std::ssize(y_m) - 1; }
  [[nodiscard]] Eigen::Index n_cells() const { return n_z() * n_y(); }
  [[nodiscard]] double width_m() const { return y_m.back(); }
};

/// errors: InvalidArgument where edges are not finite or do not increase, depths begin above the surface, or
/// columns not at 0.
void check(const PatchGrid& grid);

/// The same columns with further rows on top, up to the surface, for what acts on cells: their thickness goes
/// on by the ratio of the grid's two uppermost rows, so that the lower part of a geometric grid gets back the
/// rows it was cut from. Where such rows would never arrive they are as thick as the uppermost. A grid that
/// begins at the surface is returned as it is. `most_rows` bounds their number.
[[nodiscard]] PatchGrid continued_to_surface(const PatchGrid& grid, int most_rows = 256);

}  // namespace lodestone::models::earths
