// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: the linearization of cheap maps, whose derivative has few entries per row.
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <Eigen/SparseCore>

#include <optional>
#include <utility>

namespace lodestone::physics::mt {

/// A derivative that is held as a sparse matrix of shape (n_out, n_in).
class SparseLinearization final : public core::Linearization {
 public:
  SparseLinearization(Eigen::VectorXd value, core::SparseRows jacobian)
      : Linearization(jacobian.cols(), std::move(value)), jacobian_(std::move(jacobian)) {}
  [[nodiscard]] std::size_t bytes() const override {
    return core::Linearization::bytes() +
           static_cast<std::size_t>(jacobian_.nonZeros()) * (sizeof(double) + sizeof(int));
  }

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return jacobian_ * directions;
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return jacobian_.transpose() * directions;
  }
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override { return rows * jacobian_; }
  Eigen::MatrixXd do_jacobian() const override { return jacobian_.toDense(); }
  std::optional<core::SparseRows> do_sparse_jacobian() const override { return jacobian_; }

  core::SparseRows jacobian_;
};

}  // namespace lodestone::physics::mt
