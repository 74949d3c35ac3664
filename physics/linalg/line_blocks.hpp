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

/// Inverts a symmetric matrix with a definite part (split_block.hpp). errors: SolverError that names the
/// line.
void invert_in_place(Eigen::MatrixXcd& matrix, int line);
/// Inverts a block, also as a matrix.
void invert_in_place(SplitBlock& block, Eigen::MatrixXcd& inverse, int line);

/// Returns the real flops of `invert_in_place`.
[[nodiscard]] double inverse_flops(int size);
/// Throws the SolverError of a zero pivot.
[[noreturn]] void throw_zero_pivot(int line);

/// Computes target ← beta·target + alpha·op(a)·b, op = "N" or "T". shapes: all (m, m).
void multiply(const char* op, const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b, Complex alpha,
              Complex beta, Eigen::MatrixXcd& target);

/// The first `count` rows of a block of columns that are `stride` numbers each. Each row is a right-hand
/// side.
struct Rows {
  const Complex* data;
  int stride, count;
};
/// Computes target ← beta·target + alpha·source·op(matrix); the target's columns are as long as the source's.
/// shapes: matrix (m, m).
void multiply_rows(const Rows& source, const char* op, const Eigen::MatrixXcd& matrix, Complex alpha,
                   Complex beta, Complex* target);
/// Computes target += sign·source·C, or ·Cᵀ where `transposed`.
void add_rows(const Rows& source, const std::vector<Coupling>& coupling, bool transposed, double sign,
              Complex* target);

/// Rows 0 … count() − 1 (or a few more) are the right-hand sides that have a source in the first n columns so
/// far.
class ReachedRows {
 public:
  explicit ReachedRows(int rows) : rows_(rows) {}
  /// Looks at the next n columns of `rows` numbers.
  int after(const Complex* columns, int n);

 private:
  int rows_, count_ = 0;
};

}  // namespace lodestone::physics::linalg
