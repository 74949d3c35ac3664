// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/polygon.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <vector>

namespace lodestone::inversion::prior {

/// A line in the section across which the model may jump, as a fault or a coast: the roughness of a face
/// whose two centres lie on either side of it (their connection meets the line) is multiplied by `weight`.
struct Tear {
  std::vector<physics::mesh::Point2D> points;  ///< at least two, depths counted as those of the grid
  double weight = 0.0;                         ///< 0: no roughness across, 1: as elsewhere
};

/// errors: InvalidArgument on fewer than two points, points that are not finite, or a weight outside 0…1.
void check(const Tear& tear);

/// The smallest weight of the tears that the segment from a to b meets; 1 where it meets none.
[[nodiscard]] double weight_across(const std::vector<Tear>& tears, physics::mesh::Point2D a,
                                   physics::mesh::Point2D b);

/// A piece of a tear that lies outside a rectangle, where it tears nothing.
struct OutsidePiece {
  physics::mesh::Point2D from, to;
  double length_m;
};
/// In order along the line; empty where the whole line lies inside or on the outline.
[[nodiscard]] std::vector<OutsidePiece> pieces_outside(const Tear& tear,
                                                       const physics::mesh::Rectangle2D& rectangle);

/// Number of faces between two cells of the grid that a tear crosses; 0: it lies outside, or between two
/// centres without separating them.
[[nodiscard]] Eigen::Index n_faces_crossed(const physics::mesh::TensorGrid2D& grid, const Tear& tear);

}  // namespace lodestone::inversion::prior
