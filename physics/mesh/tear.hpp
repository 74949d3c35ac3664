// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/cells.hpp"

#include <vector>

namespace lodestone::physics::mesh {

/// A line across which a model may jump, as a fault or a coast. A face is torn if the connection of its two
/// centres meets the line; its roughness is multiplied by `weight`.
///
/// A line in the section continues along x without end. A line in plan is the trace of a vertical curtain
/// over the depths `z_m`. Depths are those of the grid.
struct Tear {
  std::vector<Point> points;  ///< at least two
  double weight = 0.0;        ///< 0: no roughness across, 1: as elsewhere
  Plane plane = Plane::section;
  Interval z_m{};  ///< depths of a curtain; without meaning for a line in the section
};

/// Checks a tear. errors: InvalidArgument on fewer than two points, points that are not finite, a weight
/// outside 0…1, or a curtain whose depths do not increase.
void check(const Tear& tear);

/// Returns true when the segment from a to b meets the line or the curtain; touching counts. A segment that
/// is itself vertical crosses no curtain.
[[nodiscard]] bool crosses(const Tear& tear, const Point& a, const Point& b);

/// Returns the smallest weight of the tears that the segment from a to b meets; 1 where it meets none.
[[nodiscard]] double weight_across(const std::vector<Tear>& tears, const Point& a, const Point& b);

/// Cells sorted into areas, as land, sea and basins, and how much roughness counts between areas.
struct Areas {
  /// A pair of areas, in any order, and the factor on the roughness of faces between them.
  struct Border {
    int area, other_area;
    double weight;  ///< 0: none, 1: as elsewhere
  };
  std::vector<int> of_cell{};     ///< (n_cells); empty: all cells are one area
  std::vector<Border> borders{};  ///< pairs without an entry have weight 1

  /// Returns the factor on the roughness between two cells.
  [[nodiscard]] double weight_across(Eigen::Index cell, Eigen::Index other) const;
};

/// A piece of a tear that lies outside a box, where it has no effect.
struct OutsidePiece {
  Point from, to;
  double length_m;
};
/// Returns the pieces in order along the line, judged in its plane; empty where the whole line lies inside or
/// on the outline.
[[nodiscard]] std::vector<OutsidePiece> pieces_outside(const Tear& tear, const Box& box);

/// Returns the number of faces that a tear crosses; 0: it lies outside, or between two centres without
/// separating them.
[[nodiscard]] Eigen::Index n_faces_crossed(const Cells& cells, const Tear& tear);

}  // namespace lodestone::physics::mesh
