// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/symmetric_solver.hpp"

#include "engine/core/error.hpp"

#include <utility>

namespace lodestone::physics::linalg {

Eigen::MatrixXcd Factorization::solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const {
  if (right_hand_sides.rows() != size_) {
    throw core::ShapeError("linalg::Factorization#wrong_rows",
                           "expected right-hand sides with {} rows, got {}", size_, right_hand_sides.rows());
  }
  if (right_hand_sides.cols() == 0) return Eigen::MatrixXcd(size_, 0);
  return do_solve(right_hand_sides);
}

Eigen::MatrixXcd Factorization::solve_rows(Eigen::MatrixXcd right_hand_sides) const {
  if (right_hand_sides.cols() != size_) {
    throw core::ShapeError("linalg::Factorization#wrong_columns",
                           "expected right-hand sides with {} columns, got {}", size_,
                           right_hand_sides.cols());
  }
  if (right_hand_sides.rows() == 0) return right_hand_sides;
  return do_solve_rows(std::move(right_hand_sides));
}

Eigen::MatrixXcd Factorization::do_solve_rows(Eigen::MatrixXcd right_hand_sides) const {
  right_hand_sides.transposeInPlace();
  Eigen::MatrixXcd solution = do_solve(right_hand_sides);
  solution.transposeInPlace();
  return solution;
}

std::unique_ptr<Factorization> SymmetricSolver::factorize(std::span<const Complex> values) const {
  if (values.size() != pattern_.column.size()) {
    throw core::ShapeError("linalg::SymmetricSolver#wrong_size", "expected {} values, got {}",
                           pattern_.column.size(), values.size());
  }
  return do_factorize(values);
}

}  // namespace lodestone::physics::linalg
