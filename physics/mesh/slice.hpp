// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"

#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::physics::mesh {

/// The whole of a section, drawn as (y, z), or of layers, a curve over z.
struct WholeSection {};

/// A vertical cut between two places in plan, drawn as (distance from the first, z).
struct VerticalCut {
  Point from, to;
};

/// A horizontal cut of a volume, drawn as a map (y, x): below the surface by this depth where the grid is
/// draped, at this z otherwise.
struct HorizontalCut {
  double z_m = 0.0;
};

using Cut = std::variant<WholeSection, VerticalCut, HorizontalCut>;

/// The part of a cell that a cut meets.
struct SlicePiece {
  Eigen::Index cell;
  std::vector<Flat> corners;  ///< upper left, upper right, lower right, lower left; of layers top and bottom
};

/// A site near a cut.
struct SliceSite {
  std::string name;
  Flat at;            ///< on the surface; on a map its place
  double distance_m;  ///< from the cut, not negative; 0 on a map
};

/// A picture's content: polygons with their cell, and the lines and sites around them.
struct Slice {
  std::vector<SlicePiece> pieces;  ///< by layer, then along the cut; cells above the surface are left out
  std::vector<Flat> surface;       ///< in order along the cut; empty on a map
  std::vector<std::vector<Flat>>
      water;  ///< outlines: one of a section, of no height on land; of a map by cell
  std::vector<SliceSite> sites;
};

/// Cuts an earth. Sites farther from the cut than `within_m`, or beyond its ends, are left out. errors:
/// InvalidArgument when a volume is to be drawn whole, a vertical cut has no length, or anything but a volume
/// is cut horizontally.
[[nodiscard]] Slice slice(const Earth& earth, const Cut& cut = WholeSection{},
                          const std::vector<Site>& sites = {},
                          double within_m = std::numeric_limits<double>::infinity());

}  // namespace lodestone::physics::mesh
