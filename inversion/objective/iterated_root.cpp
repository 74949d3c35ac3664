// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "inversion/objective/root.hpp"

#include <Eigen/IterativeLinearSolvers>

#include <atomic>
#include <cmath>

namespace lodestone::inversion::objective {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

constexpr double tolerance = 1e-10;  // of the residual, relative
constexpr int most_steps = 5000;     // grids of 75 k and 500 k cells take 170 to 400

class IteratedRoot final : public Root {
 public:
  explicit IteratedRoot(const SparseMatrix& roughness)
      : roughness_(roughness), inverse_(SparseMatrix(roughness.transpose() * roughness)) {
    incomplete_.compute(inverse_);
    if (incomplete_.info() != Eigen::Success) refuse("its incomplete factor does not exist");
    const core::Philox random(1);
    static_cast<void>(solve(Eigen::VectorXd::NullaryExpr(size_of_model(), [&](Eigen::Index i) {
      return random.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
    })));
  }

  [[nodiscard]] Eigen::Index size() const override { return roughness_.rows(); }
  [[nodiscard]] Eigen::MatrixXd apply(const core::ConstMatrixRef& b) const override {
    return covariance(roughness_.transpose() * b);
  }
  [[nodiscard]] Eigen::MatrixXd apply_transposed(const core::ConstMatrixRef& b) const override {
    return roughness_ * covariance(b);
  }
  [[nodiscard]] Eigen::MatrixXd covariance(const core::ConstMatrixRef& b) const override {
    Eigen::MatrixXd result(b.rows(), b.cols());
    for (Eigen::Index column = 0; column < b.cols(); ++column) result.col(column) = solve(b.col(column));
    return result;
  }
  [[nodiscard]] double flops_per_column() const override {
    return n_steps_ * (2.0 * static_cast<double>(inverse_.nonZeros()) * 2.0 +
                       10.0 * static_cast<double>(size_of_model()));
  }

 private:
  [[nodiscard]] Eigen::Index size_of_model() const { return roughness_.cols(); }

  /// source: Hestenes & Stiefel 1952; Kershaw 1978 (incomplete Cholesky in front of conjugate gradients).
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size()), residual = b, z = incomplete_.solve(residual),
                    direction = z;
    const double enough = tolerance * b.norm();
    double fall = residual.dot(z);
    int step = 0;
    for (; residual.norm() > enough; ++step) {
      if (step == most_steps || !std::isfinite(fall)) refuse("conjugate gradients do not converge");
      const Eigen::VectorXd image = inverse_ * direction;
      const double length = fall / direction.dot(image);
      x += length * direction;
      residual -= length * image;
      z = incomplete_.solve(residual);
      const double next = residual.dot(z);
      direction = z + next / fall * direction;
      fall = next;
    }
    n_steps_ = step;
    return x;
  }

  [[noreturn]] static void refuse(const char* why) {
    throw core::SolverError("inversion::Regularization#nearly_singular",
                            "the roughness operator is singular to working precision ({}); add smallness",
                            why);
  }

  const SparseMatrix& roughness_;
  SparseMatrix inverse_;  // RᵀR
  Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>> incomplete_;
  mutable std::atomic<int> n_steps_ = 0;  // of the last solve
};

}  // namespace

std::unique_ptr<Root> make_iterated_root(const SparseMatrix& roughness) {
  return std::make_unique<IteratedRoot>(roughness);
}

}  // namespace lodestone::inversion::objective
