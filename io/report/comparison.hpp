// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tensor_grid.hpp"

namespace lodestone::io::report {

/// A part of a section: along the profile and in depth below the surface, m.
struct SectionBlock {
  double y_from_m = 0.0, y_to_m = 0.0, z_from_m = 0.0, z_to_m = 0.0;
};

/// Pearson's correlation of log10 resistivity at the centres of the reference's cells that lie in the earth
/// and the grid of the other section, where both are finite. Two grids that measure z from the same (the
/// surface or the datum) are compared at the same z, others at the same depth below their surfaces.
struct Correlation {
  double r = 0.0;  ///< NaN where one of the two does not vary, or below two points
  int n_points = 0;
};
[[nodiscard]] Correlation correlation(const physics::mesh::Section2D& reference,
                                      const physics::mesh::Section2D& section);

/// Returns the mean of log10 resistivity over a block, weighted by the area of the cells inside and below the
/// surface; NaN where nothing finite lies there.
[[nodiscard]] double mean_log10(const physics::mesh::Section2D& section, const SectionBlock& block);

}  // namespace lodestone::io::report
