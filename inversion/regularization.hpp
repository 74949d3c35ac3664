// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/tear.hpp"

#include <Eigen/SparseCore>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lodestone::inversion {

/// Roughness of a model in physical distance, so that it approximates an integral and does not depend on
/// the grid.
struct RoughnessOptions {
  /// 1: ∫ (w_h (m_x² + m_y²) + w_v m_z²), 2: ∫ (w_h (m_xx + m_yy) + w_v m_zz)² ℓ² with ℓ = the grid's depth.
  int order = 1;
  double horizontal_weight = 1.0;  ///< w_h; horizontal correlation lengths grow with √(w_h/w_v)
  double vertical_weight = 1.0;    ///< w_v
  /// The integrand is weighted by ((z + z0)/(z_max + z0))^exponent; 0: none, 1: vertical roughness in ln(z +
  /// z0).
  double depth_weight_exponent = 0.0;
  /// The same for the horizontal part; absent: as the vertical. 1 and −1: smoothness in the metric (y, ln(z +
  /// z0)), the same horizontal length at every depth, which suits data whose resolution falls in proportion
  /// to depth.
  std::optional<double> horizontal_depth_exponent = std::nullopt;
  double depth_weight_z0_m = 1000.0;
  double smallness_length_m = 0.0;  ///< adds ∫ (m − m_ref)²/L² (makes the operator invertible); 0: L = 10 ×
                                    ///< the longest side of the grid
  std::vector<physics::mesh::Tear> tears{};  ///< where the model may jump
};

/// R with C⁻¹ = RᵀR, the inverse model covariance; applies C^{1/2} by a sparse factorisation. Immutable.
class Regularization {
 public:
  /// shapes: operator (n_rows, n), reference (n). A square operator is factorised as it is (S = R⁻¹), which
  /// keeps the digits that squaring loses. errors: ShapeError; SolverError when RᵀR is singular to working
  /// precision.
  Regularization(Eigen::SparseMatrix<double> roughness, Eigen::VectorXd reference);
  /// ‖A m − b‖² up to its smallest value, R = A and m_ref = argmin ‖A m − b‖²: the quadratic part, at one
  /// model, of a roughness that is not quadratic. `residual` is what that roughness squares, as a function of
  /// the model. shapes: A (n_rows, n), b (n_rows), residual (n) → (n_rows). errors: as above.
  Regularization(const Eigen::SparseMatrix<double>& a, const Eigen::VectorXd& b,
                 std::function<Eigen::VectorXd(const core::ConstVectorRef&)> residual);
  ~Regularization();

  [[nodiscard]] Eigen::Index size() const;
  [[nodiscard]] const Eigen::SparseMatrix<double>& roughness() const;
  [[nodiscard]] const Eigen::VectorXd& reference() const;
  /// R (m − m_ref), or the residual of the roughness whose quadratic part its square is. shape (n_rows).
  [[nodiscard]] Eigen::VectorXd residual(const core::ConstVectorRef& model) const;
  /// ‖residual‖².
  [[nodiscard]] double cost(const core::ConstVectorRef& model) const { return residual(model).squaredNorm(); }
  /// Whether R (m − m_ref) is the residual everywhere.
  [[nodiscard]] bool is_quadratic() const;
  /// S B and Sᵀ B with S Sᵀ = C = (RᵀR)⁻¹. shapes: (n, k) → (n, k).
  [[nodiscard]] Eigen::MatrixXd apply_root(const core::ConstMatrixRef& b) const;
  [[nodiscard]] Eigen::MatrixXd apply_root_transposed(const core::ConstMatrixRef& b) const;
  /// Multiplications and additions of one column in either of the two.
  [[nodiscard]] double flops_per_column() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Makes the roughness operator of cells in any dimension. No flux crosses the grid's edges (the outermost
/// cells continue without end), so that a constant model has no roughness but its smallness. shapes: order 1:
/// (n_rows, n_cells), rows: faces in the order of the cells (across x, y, then z), smallness; order 2:
/// (n_cells, n_cells). errors: InvalidArgument.
[[nodiscard]] Eigen::SparseMatrix<double> roughness_operator(const physics::mesh::Cells& cells,
                                                             const RoughnessOptions& options);
[[nodiscard]] Eigen::SparseMatrix<double> roughness_operator(const physics::mesh::TensorGrid& grid,
                                                             const RoughnessOptions& options);

/// The operator of some of the cells, the others being held at the reference model. shapes: (n_rows, n_cells)
/// → (n_rows, free_cells.size()); a square operator (order 2) stays square: the rows of the cells that are
/// held go as well.
[[nodiscard]] Eigen::SparseMatrix<double> of_free_cells(const Eigen::SparseMatrix<double>& roughness,
                                                        const std::vector<Eigen::Index>& free_cells);

/// The operator with further unknowns behind the cells, each with one row of its own that holds `weight`.
/// shapes: (n_rows, n), weights (k) → (n_rows + k, n + k).
[[nodiscard]] Eigen::SparseMatrix<double> with_further_unknowns(const Eigen::SparseMatrix<double>& roughness,
                                                                const core::ConstVectorRef& weights);

}  // namespace lodestone::inversion
