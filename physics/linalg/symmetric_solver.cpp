// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/symmetric_solver.hpp"

#include "engine/core/error.hpp"

namespace lodestone::physics::linalg {

Eigen::MatrixXcd Factorisation::solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const {
  if (right_hand_sides.rows() != size_) {
    throw core::ShapeError("linalg::Factorisation", "expected right-hand sides with {} rows, got {}", size_, right_hand_sides.rows());
  }
  if (right_hand_sides.cols() == 0) return Eigen::MatrixXcd(size_, 0);
  return do_solve(right_hand_sides);
}

std::unique_ptr<Factorisation> SymmetricSolver::factorise(std::span<const Complex> values) const {
  if (values.size() != pattern_.column.size()) {
    throw core::ShapeError("linalg::SymmetricSolver", "expected {} values, got {}", pattern_.column.size(), values.size());
  }
  return do_factorise(values);
}

}  // namespace lodestone::physics::linalg
