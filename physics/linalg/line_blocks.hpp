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

/// errors: SolverError that names the line.
void invert_in_place(Eigen::MatrixXcd& matrix, int line);

/// target ← beta·target + alpha·op(matrix)·source, op = "N" or "T", for blocks of rows (`stride` apart from column to column) inside taller matrices.
struct BlockColumns {
  Complex* data;
  int stride;
};
void multiply(const char* op, const Eigen::MatrixXcd& matrix, const Complex* source, BlockColumns target, int n_columns, Complex alpha,
              Complex beta);

/// target −= Cᵀ dense, for a sparse C. shapes: C (m, m), dense (m, k), target (m, k).
void subtract_transposed(const std::vector<Coupling>& coupling, const Eigen::MatrixXcd& dense, Eigen::MatrixXcd& target);

}  // namespace lodestone::physics::linalg
