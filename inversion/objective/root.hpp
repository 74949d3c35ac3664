// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <Eigen/SparseCore>

#include <memory>

namespace lodestone::inversion::objective {

/// S with S Sᵀ = C = (RᵀR)⁻¹. Internal to this layer.
class Root {
 public:
  Root() = default;
  virtual ~Root() = default;
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  /// Returns the number of columns of S.
  [[nodiscard]] virtual Eigen::Index size() const = 0;
  [[nodiscard]] virtual Eigen::MatrixXd apply(const core::ConstMatrixRef& b) const = 0;
  [[nodiscard]] virtual Eigen::MatrixXd apply_transposed(const core::ConstMatrixRef& b) const = 0;
  [[nodiscard]] virtual Eigen::MatrixXd covariance(const core::ConstMatrixRef& b) const {
    return apply(apply_transposed(b));
  }
  [[nodiscard]] virtual double flops_per_column() const = 0;
};

/// Makes the root S = C Rᵀ, with as many columns as R has rows. C is solved by conjugate gradients to a
/// residual of 1e-10, with an incomplete factor without fill. It keeps a reference to R. errors:
/// SolverError when RᵀR is singular to working precision.
[[nodiscard]] std::unique_ptr<Root> make_iterated_root(const Eigen::SparseMatrix<double>& roughness);

}  // namespace lodestone::inversion::objective
