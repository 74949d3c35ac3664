// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/pair_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

constexpr double aim = 0.98;  // of the target: linearized data are a little too good
constexpr double enough_of_all =
    0.9;  // of the fall that λ → 0 would bring; more is bought with codes without measure
constexpr double next_to_zero = 1e-10;  // of the size of the system
constexpr int most_steps = 24;

class CodeLinearization final : public core::Linearization {
 public:
  CodeLinearization(std::unique_ptr<core::Linearization> outer, Eigen::SparseMatrix<double> derivative)
      : Linearization(derivative.cols(), outer->value()),
        outer_(std::move(outer)),
        derivative_(std::move(derivative)) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return outer_->jvp(derivative_ * directions);
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return derivative_.transpose() * outer_->vjp(directions);
  }
  core::JacobianRows do_local_jacobian() const override {
    core::JacobianRows block = outer_->local_jacobian();
    block.values = (block.values * derivative_).eval();
    return block;
  }

  std::unique_ptr<core::Linearization> outer_;
  Eigen::SparseMatrix<double> derivative_;
};

}  // namespace

double half_step_lambda(const GaussNewtonSystem& system, double scaled, LambdaGoal goal) {
  const double unit = system.scale() > 0.0 ? system.scale() : 1.0, target = aim * goal.target_rms;
  const double least = system.linear_rms(next_to_zero * unit);
  const double reachable =
      std::isfinite(least) ? least + (1.0 - enough_of_all) * (goal.present_rms - least) : 0.0;
  const double wanted = std::max({target, 0.5 * goal.pair_rms, reachable});
  double lambda = scaled > 0.0 ? scaled : unit;
  const double step = scaled > 0.0 ? std::sqrt(10.0) : 10.0;
  for (int i = 0; i < most_steps && lambda > next_to_zero * unit && system.linear_rms(lambda) > wanted; ++i)
    lambda /= step;
  if (!goal.settles) return lambda;
  for (int i = 0; i < most_steps && system.linear_rms(10.0 * lambda) <= target; ++i) lambda *= 10.0;
  for (const double part : {0.5, 0.25, 0.125, 0.0625}) {
    if (const double larger = std::pow(10.0, part) * lambda; system.linear_rms(larger) <= target)
      lambda = larger;
  }
  return lambda;
}

std::unique_ptr<core::Linearization> by_codes(std::unique_ptr<core::Linearization> outer,
                                              Eigen::SparseMatrix<double> derivative) {
  return std::make_unique<CodeLinearization>(std::move(outer), std::move(derivative));
}

}  // namespace lodestone::inversion::optimize
