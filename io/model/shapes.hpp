// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/options.hpp"
#include "physics/mesh/earth.hpp"

#include <optional>
#include <vector>

/// The parts of a TOML model. Internal to io/model.
namespace lodestone::io::model {

struct Layers {
  std::vector<double> bottoms_m;  ///< all but the last have one
  std::vector<double> resistivity_ohm_m;
  [[nodiscard]] double at(double z_m) const;
};

/// A part of the earth of one resistivity: a box, or an outline that reaches along its third axis.
struct Body {
  physics::mesh::Box box;  ///< its limits; of an outline the least box around it
  std::optional<physics::mesh::Polygon> outline{};
  double resistivity_ohm_m = 0.0;
};

/// Layers and bodies over them, of which the later ones win.
struct Shapes {
  int dimension = 2;  ///< 2: a section, 3: a volume
  Layers layers;
  std::vector<Body> bodies;  ///< boxes, then polygons, then prisms
  double resolution_m =
      0.0;              ///< size of pieces of slanted edges, a 64th of their length at the finest; 0: by
                        ///< the depth of their upper end, in a volume also by the length of the outline
  double refine = 1.0;  ///< slanted edges are cut into so many times more pieces

  /// The strip of each outline in which the last cell lay; empty before the first.
  using Strips = std::vector<physics::mesh::Polygon::Strip>;
  /// Returns the resistivity of a cell through which no face of a layer or box passes: where outlines cut it,
  /// the mean of conductivity over its volume. `strips` makes cells of one column cheap that follow each
  /// other.
  [[nodiscard]] double resistivity_ohm_m(const physics::mesh::Box& cell, Strips& strips) const;
  /// Returns coordinates on which grid lines must stand: of layers, faces and corners, and between the ends
  /// of slanted edges. Unsorted, some not finite.
  [[nodiscard]] std::vector<double> lines_m(physics::mesh::Axis axis) const;
};

/// Reads the dimension, the background and the bodies. errors: ConfigError with file:line (wrong shape or
/// sign, an outline that crosses itself, keys of a volume in a section).
[[nodiscard]] Shapes read_shapes(const core::Options& root, physics::mesh::DepthReference reference);

/// `[surface]`: `points`, or `y_m` and `z_m`, or a grid of `x_m`, `y_m` and `z_m`; level at z = 0 without it.
/// errors: ConfigError with file:line (not increasing, not finite, a grid in a section).
[[nodiscard]] physics::mesh::Surface read_surface(const core::Options& root, int dimension);

/// `[sea]` above this surface. errors: ConfigError with file:line (no resistivity, no water anywhere).
[[nodiscard]] std::optional<physics::mesh::Sea> read_sea(const core::Options& root,
                                                         const physics::mesh::Surface& surface);

}  // namespace lodestone::io::model
