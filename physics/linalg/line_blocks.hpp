// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the dense and sparse blocks of solvers that eliminate mesh lines.
#pragma once

#include "physics/linalg/symmetric_solver.hpp"

namespace lodestone::physics::linalg {

/// One nonzero of the coupling C between a line and another.
struct Coupling {
  int row, column;
  Complex value;
};

class SplitBlock;

/// A symmetric matrix with a definite part (split_block.hpp). errors: SolverError that names the line.
void invert_in_place(Eigen::MatrixXcd& matrix, int line);
/// The same of a block, also as a matrix.
void invert_in_place(SplitBlock& block, Eigen::MatrixXcd& inverse, int line);

/// target ← beta·target + alpha·op(matrix)·source, op = "N" or "T". shapes: matrix (m, m), source and target (m, n_columns).
void multiply(const char* op, const Eigen::MatrixXcd& matrix, const Complex* source, Complex* target, int n_columns, Complex alpha,
              Complex beta);

/// The first `count` rows of a block of columns that are `stride` numbers each.
struct Rows {
  const Complex* data;
  int stride, count;
};
/// target ← beta·target + alpha·source·symmetric; the target's columns are as long as the source's. shapes: symmetric (m, m).
void multiply_rows(const Rows& source, const Eigen::MatrixXcd& symmetric, Complex alpha, Complex beta, Complex* target);
/// target += sign·source·C, or ·Cᵀ where `transposed`.
void add_rows(const Rows& source, const std::vector<Coupling>& coupling, bool transposed, double sign, Complex* target);

/// target −= Cᵀ dense, for a sparse C. shapes: C (m, m), dense (m, k), target (m, k).
void subtract_transposed(const std::vector<Coupling>& coupling, const Eigen::MatrixXcd& dense, Eigen::MatrixXcd& target);

}  // namespace lodestone::physics::linalg
