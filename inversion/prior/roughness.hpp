// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/prior/autoregression.hpp"
#include "physics/mesh/cells.hpp"
#include "physics/mesh/tear.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/SparseCore>

#include <optional>
#include <vector>

namespace lodestone::inversion::prior {

/// Roughness of a model in physical distance, so that it approximates an integral and does not depend on
/// the grid; or a covariance in its place.
struct RoughnessOptions {
  /// 1: ∫ (w_h (m_x² + m_y²) + w_v m_z²), 2: ∫ (w_h (m_xx + m_yy) + w_v m_zz)² ℓ² with ℓ = the grid's depth.
  int order = 1;
  double horizontal_weight = 1.0;  ///< w_h; horizontal correlation lengths grow with √(w_h/w_v)
  double vertical_weight = 1.0;    ///< w_v
  /// The integrand is weighted by ((z + z0)/(z_max + z0))^exponent; 0: none, 1: vertical roughness in ln(z +
  /// z0).
  double depth_weight_exponent = 0.0;
  /// Exponent of the horizontal part; absent: that of the vertical. 1 and −1: smoothness in the metric (y,
  /// ln(z + z0)), the same horizontal length at every depth, which suits data whose resolution falls in
  /// proportion to depth.
  std::optional<double> horizontal_depth_exponent = std::nullopt;
  double depth_weight_z0_m = 1000.0;
  double smallness_length_m = 0.0;  ///< adds ∫ (m − m_ref)²/L² (makes the operator invertible); 0: L = 10 ×
                                    ///< the longest side of the grid
  /// The outermost columns and the lowest layer stand for all that lies beyond. Along the edges their faces
  /// count as if they reached outwards by this share of the grid's depth. 0: as they are; order 1 alone.
  double edges_reach = 0.0;
  std::vector<physics::mesh::Tear> tears{};  ///< places at which the model may jump
  physics::mesh::Areas areas{};              ///< cells between whose areas it may
  /// A covariance that smooths by cells; all else here is without meaning then.
  std::optional<Autoregression> autoregression{};
};

/// Makes the roughness operator of cells in any dimension. No flux crosses the grid's edges (the outermost
/// cells continue without end), so that a constant model has no roughness but its smallness. shapes: order 1:
/// (n_rows, n_cells), rows: faces in the order of the cells (across x, y, then z), smallness; order 2:
/// (n_cells, n_cells). errors: InvalidArgument, ShapeError unless each cell has an area or none has.
[[nodiscard]] Eigen::SparseMatrix<double> roughness_operator(const physics::mesh::Cells& cells,
                                                             const RoughnessOptions& options);
[[nodiscard]] Eigen::SparseMatrix<double> roughness_operator(const physics::mesh::TensorGrid& grid,
                                                             const RoughnessOptions& options);

/// Returns the operator of some of the cells, the others being held at the reference model. shapes: (n_rows,
/// n_cells) → (n_rows, free_cells.size()); a square operator (order 2) stays square: the rows of the cells
/// that are held go as well.
[[nodiscard]] Eigen::SparseMatrix<double> of_free_cells(const Eigen::SparseMatrix<double>& roughness,
                                                        const std::vector<Eigen::Index>& free_cells);

/// Returns the operator with further unknowns behind the cells, each with one row of its own that holds
/// `weight`. shapes: (n_rows, n), weights (k) → (n_rows + k, n + k).
[[nodiscard]] Eigen::SparseMatrix<double> with_further_unknowns(const Eigen::SparseMatrix<double>& roughness,
                                                                const core::ConstVectorRef& weights);

}  // namespace lodestone::inversion::prior
