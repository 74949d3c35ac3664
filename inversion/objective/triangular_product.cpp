// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/triangular_product.hpp"

#include <ranges>

namespace lodestone::inversion::objective {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// Computes b ← F⁻¹ b of a factor, or F⁻ᵀ b.
void divide(const TriangularProduct::Factor& factor, bool transposed, Eigen::MatrixXd& b) {
  if (factor.transposed == transposed)
    factor.lower.triangularView<Eigen::Lower>().solveInPlace(b);
  else
    factor.lower.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

}  // namespace

SparseMatrix TriangularProduct::matrix() const {
  SparseMatrix product;
  for (const Factor& factor : factors) {
    const SparseMatrix next = factor.transposed ? SparseMatrix(factor.lower.transpose()) : factor.lower;
    product = product.size() == 0 ? next : SparseMatrix(product * next);
  }
  return product;
}

Eigen::MatrixXd TriangularProduct::solve(Eigen::MatrixXd b) const {
  for (const Factor& factor : factors) divide(factor, false, b);
  return b;
}

Eigen::MatrixXd TriangularProduct::solve_transposed(Eigen::MatrixXd b) const {
  for (const Factor& factor : factors | std::views::reverse) divide(factor, true, b);
  return b;
}

Eigen::Index TriangularProduct::n_numbers() const {
  Eigen::Index n = 0;
  for (const Factor& factor : factors) n += factor.lower.nonZeros();
  return n;
}

}  // namespace lodestone::inversion::objective
