// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/SparseCore>

#include <memory>
#include <vector>

namespace lodestone::inversion {

/// Roughness of a section in physical distance, so that it approximates an integral and does not depend on the grid.
struct RoughnessOptions {
  int order = 1;                      ///< 1: ∫|∇m|², 2: ∫ (∇²m)² ℓ²
  double horizontal_weight = 1.0;     ///< of the squared horizontal derivative
  double vertical_weight = 1.0;
  double depth_weight_exponent = 0.0; ///< the integrand is weighted by ((z + z0)/z_max)^exponent; 0: none
  double depth_weight_z0_m = 1000.0;
  double smallness_length_m = 0.0;    ///< adds ∫ (m − m_ref)²/L² (makes the operator invertible); 0: L = 10 × the grid's width
};

/// R with C⁻¹ = RᵀR, the inverse model covariance; applies C^{1/2} by a sparse factorisation. Immutable.
class Regularization {
 public:
  /// shapes: operator (n_rows, n), reference (n). errors: ShapeError; SolverError when RᵀR is singular.
  Regularization(Eigen::SparseMatrix<double> roughness, Eigen::VectorXd reference);
  ~Regularization();

  [[nodiscard]] Eigen::Index size() const;
  [[nodiscard]] const Eigen::SparseMatrix<double>& roughness() const;
  [[nodiscard]] const Eigen::VectorXd& reference() const;
  /// ‖R (m − m_ref)‖².
  [[nodiscard]] double cost(const core::ConstVectorRef& model) const;
  /// S B and Sᵀ B with S Sᵀ = C = (RᵀR)⁻¹. shapes: (n, k) → (n, k).
  [[nodiscard]] Eigen::MatrixXd apply_root(const core::ConstMatrixRef& b) const;
  [[nodiscard]] Eigen::MatrixXd apply_root_transposed(const core::ConstMatrixRef& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The roughness operator of a parameter grid, rows: horizontal, vertical, smallness. shapes: (n_rows, n_cells).
[[nodiscard]] Eigen::SparseMatrix<double> roughness_operator(const physics::mesh::TensorGrid2D& grid, const RoughnessOptions& options);

}  // namespace lodestone::inversion
