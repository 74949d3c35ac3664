// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the covariances that have such factors and the regularization both name it.
#pragma once

#include <Eigen/SparseCore>

#include <vector>

namespace lodestone::inversion::objective {

/// A square matrix as a product of sparse triangular factors, so that its inverse is a sweep through each.
struct TriangularProduct {
  /// L, or Lᵀ. shape: (n, n); the diagonal has no zeros.
  struct Factor {
    Eigen::SparseMatrix<double> lower;
    bool transposed = false;
  };
  std::vector<Factor> factors;  ///< from left to right; at least one

  /// Returns the product. shape: (n, n).
  [[nodiscard]] Eigen::SparseMatrix<double> matrix() const;
  /// Returns the inverse times B, or the transposed inverse times B. shape: (n, k) → (n, k).
  [[nodiscard]] Eigen::MatrixXd solve(Eigen::MatrixXd b) const;
  [[nodiscard]] Eigen::MatrixXd solve_transposed(Eigen::MatrixXd b) const;
  /// Returns the numbers of all factors.
  [[nodiscard]] Eigen::Index n_numbers() const;
};

}  // namespace lodestone::inversion::objective
