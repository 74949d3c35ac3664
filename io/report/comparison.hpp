// SPDX-License-Identifier: Apache-2.0
// Small on purpose: two models are compared without a report.
#pragma once

#include "physics/mesh/earth.hpp"

namespace lodestone::io::report {

/// Pearson's correlation of log10 resistivity at the centres of the reference's cells that lie in the earth
/// and the grid of the other section, where both are finite. Two grids that measure z from the same (the
/// surface or the datum) are compared at the same z, others at the same depth below their surfaces.
struct Correlation {
  double r = 0.0;  ///< NaN where one of the two does not vary, or below two points
  int n_points = 0;
};
[[nodiscard]] Correlation correlation(const physics::mesh::Model& reference,
                                      const physics::mesh::Model& model);

/// Returns the mean of log10 resistivity over a box, whose z is the depth below the surface, weighted by the
/// area of the cells inside and below the surface; NaN where nothing finite lies there.
[[nodiscard]] double mean_log10(const physics::mesh::Model& model, const physics::mesh::Box& box);

}  // namespace lodestone::io::report
