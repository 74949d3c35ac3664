// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: forward grids whose layers follow a surface, and fill the sea above it.
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/fem/relief_grid.hpp"
#include "physics/mesh/earth.hpp"

#include <Eigen/Core>

namespace lodestone::physics::mt::d3 {

/// Returns the depth of the deepest water; 0 without a sea.
[[nodiscard]] double sea_depth_m(const mesh::Earth& earth);
/// Returns the depth of the water at a place, negative on land. The earth must have a sea.
[[nodiscard]] double water_depth_m(const mesh::Earth& earth, double x_m, double y_m);

/// The least height of the layers of water together, on land and in shallow water, over the deepest water.
inline constexpr double least_layers = 0.05;
/// Returns the height above the lowest ground of the highest place under pure air: of the highest ground, or
/// where the layers of the sea end above it.
[[nodiscard]] double height_of_layers_m(const mesh::Earth& earth);

/// Returns the true depth of each node of a grid whose z lines count from the surface; nothing under a level
/// surface without a sea. shape: (n_nodes).
///
/// On the line z = 0 nodes lie on the surface, the floor of the sea. Lines from there up to `sea_depth_m`
/// share the depth of the water, so that its surface is a layer of nodes too. Where it is less than a
/// twentieth of the deepest, and on land, they share that twentieth. Above, layers become level up to the top
/// of the air. Below they follow a draped grid all the way down, so that its layers are theirs; under a grid
/// with level layers they become level within one to two heights of the relief. errors: InvalidArgument when
/// the air is not higher than `height_of_layers_m`.
[[nodiscard]] Eigen::VectorXd node_depths_m(const mesh::Earth& earth, const fem::EdgeGrid& lines);
/// The water on the ground, per column of cells. shapes: (n_x, n_y).
struct Water {
  Eigen::ArrayXXi n_whole;  ///< layers of water alone, counted up from the ground
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> is_wet;  ///< there is some on the ground
};
/// Finds it; a column without any is dry.
[[nodiscard]] Water water_on(const mesh::Earth& earth, const fem::ReliefGrid& grid, int ground);
/// Returns the largest thickness of a layer below the surface over that between its lines.
[[nodiscard]] double layer_stretch(const mesh::Earth& earth);

/// Conductivities of the cells of a relief grid from those of a parameter grid: means over the volume. Lines
/// should stand at strong contacts. Outermost parameter cells continue without end; above the surface there
/// is water up to the level of the sea, and air. Cells with both keep the conductance of the water.
class CellAverages {
 public:
  /// Prepares the shares of parameter cells. Layers of a draped parameter grid are those of `grid.lines()`
  /// from the ground down; level layers are cut where cells truly are. `ground`: line along z on the surface.
  CellAverages(const mesh::Earth& earth, const fem::ReliefGrid& grid, int ground);

  /// Returns the conductivity of each cell, S/m. shapes: (n_parameters) → (n_cells).
  [[nodiscard]] Eigen::VectorXd conductivities(const Eigen::VectorXd& resistivity) const;
  /// Returns their derivative with respect to each resistivity. shape: (n_cells, n_parameters).
  [[nodiscard]] core::SparseRows derivative(const Eigen::VectorXd& resistivity) const;

 private:
  core::SparseRows shares_;  ///< weights of the conductivities of parameter cells
  Eigen::VectorXd fixed_;    ///< conductivity of water and air
};

}  // namespace lodestone::physics::mt::d3
