// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/earth.hpp"

#include <vector>

namespace lodestone::inversion::objective {

// These functions measure how near models come to a known one or to each other. Vectors and matrices are
// log10 of ohm m.

/// Returns ‖model − truth‖ / ‖truth‖ over these cells, all cells alike. errors: ShapeError; InvalidArgument
/// (no cell, a cell outside, a truth of 0 everywhere).
[[nodiscard]] double relative_error(const core::ConstVectorRef& model, const core::ConstVectorRef& truth,
                                    const std::vector<Eigen::Index>& cells);

/// Windows and scale of the structural similarity.
struct SimilarityOptions {
  int window_cells = 7;         ///< along either side, all cells of a window alike
  double range_decades = 3.0;   ///< L, fixed, so that figures of different sections compare: 1 to 1000 ohm m
  double k1 = 0.01, k2 = 0.03;  ///< C1 = (k1 L)², C2 = (k2 L)²
};

/// Returns the structural similarity: the mean over all whole windows of (2 μ_a μ_b + C1)(2 s_ab + C2) /
/// ((μ_a² + μ_b² + C1)(s_a² + s_b² + C2)); μ and s are means and (co)variances over a window's cells. 1:
/// alike; near 0: nothing in common. shapes: (n_z, n_y) both, at least a window. errors: ShapeError;
/// InvalidArgument (options). source: Wang et al. 2004, IEEE Trans. Image Process. 13, 600, eq. 13, uniform
/// windows
[[nodiscard]] double structural_similarity(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b,
                                           const SimilarityOptions& options = {});

/// Returns Pearson's correlation of log10 resistivity at the centres of the reference's cells. Cells count
/// that lie in the earth and the grid of the other model, where both are finite. Two grids that both measure
/// z from the surface, or both from the datum, are compared at the same z. Others are compared at the same
/// depth below their surfaces.
struct Correlation {
  double r = 0.0;  ///< NaN where one of the two does not vary, or below two points
  int n_points = 0;
};
/// Returns the correlation of two models. Each may have 1 to 3 axes; along an axis that one of them lacks it
/// is the same everywhere. errors: InvalidArgument unless both are resistivities.
[[nodiscard]] Correlation correlation(const physics::mesh::Model& reference,
                                      const physics::mesh::Model& model);

/// Returns the mean of log10 resistivity over a box, whose z is the depth below the surface. Its weights are
/// the volumes of the cells inside and below the surface (in 2-D areas); NaN where nothing finite lies there.
/// Bounds along an axis that the grid lacks have no effect. errors: InvalidArgument unless it is a
/// resistivity.
[[nodiscard]] double mean_log10(const physics::mesh::Model& model, const physics::mesh::Box& box);

}  // namespace lodestone::inversion::objective
