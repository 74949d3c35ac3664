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

/// A box of one resistivity, without limits where none are given.
struct Block {
  physics::mesh::Box box;
  double resistivity_ohm_m = 0.0;
};

/// A polygon of one resistivity.
struct Region {
  physics::mesh::Polygon outline;
  double resistivity_ohm_m;
};

/// Layers, boxes over them and polygons over both; of each kind the later one wins.
struct SectionShapes {
  Layers layers;
  std::vector<Block> blocks;
  std::vector<Region> regions;
  double resolution_m = 0.0;  ///< size of pieces of slanted edges, a 64th of their length at the finest; 0: a
                              ///< 16th of the depth of the upper end
  double refine = 1.0;        ///< slanted edges are cut into so many times more pieces

  /// Returns the resistivity of a cell through which no layer or box edge passes: where polygons cut it, the
  /// mean of conductivity over its area.
  [[nodiscard]] double resistivity_ohm_m(const physics::mesh::Box& cell) const;
  /// Returns coordinates on which grid lines must stand: of layers, boxes and corners, and between the ends
  /// of slanted edges. Unsorted, some not finite.
  [[nodiscard]] std::vector<double> y_lines_m() const;
  [[nodiscard]] std::vector<double> z_lines_m() const;
};

/// Reads the background and the shapes. errors: ConfigError with file:line (wrong shape or sign, a polygon
/// that crosses itself).
[[nodiscard]] SectionShapes read_section_shapes(const core::Options& root,
                                                physics::mesh::DepthReference reference);

/// `[surface]`: `points`, or `y_m` and `z_m`; level at z = 0 without it. errors: ConfigError with file:line
/// (not left to right, not finite).
[[nodiscard]] physics::mesh::SurfaceLine read_section_surface(const core::Options& root);

/// `[sea]` above this surface. errors: ConfigError with file:line (no resistivity, no water anywhere).
[[nodiscard]] std::optional<physics::mesh::Sea> read_section_sea(const core::Options& root,
                                                                 const physics::mesh::SurfaceLine& surface);

}  // namespace lodestone::io::model
