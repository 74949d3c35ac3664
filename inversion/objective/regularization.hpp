// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/objective/triangular_product.hpp"

#include <Eigen/SparseCore>

#include <functional>
#include <memory>

namespace lodestone::inversion::objective {

/// R with C⁻¹ = RᵀR, the inverse model covariance. A sparse factorization applies C and a root of it, or the
/// factors that R is made of. Where a factor is large, as in volumes, conjugate gradients do. Immutable.
class Regularization {
 public:
  /// The numbers in a Cholesky factor up to which it is made. A volume of 48 × 46 × 34 cells has 27 million
  /// (0.3 GB), a section of 500 000 cells 20 million.
  static constexpr double usual_largest_factor = 30e6;

  /// Takes an operator and a reference. shapes: operator (n_rows, n), reference (n). A square operator is
  /// factorized as it is (S = R⁻¹), which keeps the digits that squaring loses. `largest_factor`: numbers in
  /// the Cholesky factor of another operator above which conjugate gradients take its place. errors:
  /// ShapeError; SolverError when RᵀR is singular to working precision.
  Regularization(Eigen::SparseMatrix<double> roughness, Eigen::VectorXd reference,
                 double largest_factor = usual_largest_factor);
  /// Takes R as a product, S = R⁻¹ by its factors: nothing is factorized. shapes: operator (n, n), reference
  /// (n). errors: ShapeError, InvalidArgument.
  Regularization(TriangularProduct roughness, Eigen::VectorXd reference);
  /// Takes ‖A m − b‖² up to its smallest value, R = A and m_ref = argmin ‖A m − b‖²: the quadratic part, at
  /// one model, of a roughness that is not quadratic. `residual` is what that roughness squares, as a
  /// function of the model. shapes: A (n_rows, n), b (n_rows), residual (n) → (n_rows). errors: as above.
  Regularization(const Eigen::SparseMatrix<double>& a, const Eigen::VectorXd& b,
                 std::function<Eigen::VectorXd(const core::ConstVectorRef&)> residual);
  ~Regularization();

  [[nodiscard]] Eigen::Index size() const;
  /// Returns the number of columns of S: n, or n_rows where conjugate gradients solve (S = C Rᵀ).
  [[nodiscard]] Eigen::Index root_size() const;
  [[nodiscard]] const Eigen::SparseMatrix<double>& roughness() const;
  [[nodiscard]] const Eigen::VectorXd& reference() const;
  /// Returns R (m − m_ref), or the residual of the roughness whose quadratic part its square is. shape
  /// (n_rows).
  [[nodiscard]] Eigen::VectorXd residual(const core::ConstVectorRef& model) const;
  /// Returns ‖residual‖².
  [[nodiscard]] double cost(const core::ConstVectorRef& model) const { return residual(model).squaredNorm(); }
  /// Returns true if R (m − m_ref) is the residual everywhere.
  [[nodiscard]] bool is_quadratic() const;
  /// Returns S B and Sᵀ B with S Sᵀ = C = (RᵀR)⁻¹. shapes: (root_size, k) → (n, k), and back.
  [[nodiscard]] Eigen::MatrixXd apply_root(const core::ConstMatrixRef& b) const;
  [[nodiscard]] Eigen::MatrixXd apply_root_transposed(const core::ConstMatrixRef& b) const;
  /// Returns C B = (RᵀR)⁻¹ B. shape: (n, k) → (n, k).
  [[nodiscard]] Eigen::MatrixXd apply_covariance(const core::ConstMatrixRef& b) const;
  /// Returns the multiplications and additions of one column in either of the two.
  [[nodiscard]] double flops_per_column() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the regularization to go on with, for norms whose weights follow the model. It is called at the
/// start (or saved) model and after each accepted one. It must follow from the model alone: `resume` calls it
/// again with the saved one.
using Reweigh = std::function<std::shared_ptr<const Regularization>(const core::ConstVectorRef& model)>;

/// Makes the forward map for a model: meshes that suit it.
using Design = std::function<core::MapPtr(const Eigen::VectorXd& model)>;

}  // namespace lodestone::inversion::objective
