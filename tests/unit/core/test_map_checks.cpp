// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

/// exp with a derivative off by a factor, and an offset that a careless test would hide the error behind.
MapPtr exponential(double derivative_factor, double offset = 0.0) {
  return pointwise(
      "exp", 5, [offset](double v) { return std::exp(v) + offset; },
      [derivative_factor](double v) { return derivative_factor * std::exp(v); });
}

/// y = A x whose parts can be made wrong one by one.
class BrokenLinear final : public DifferentiableMap {
 public:
  enum class Break { none, vjp, jacobian, own_rows, row_product, through, batch };
  explicit BrokenLinear(Break broken) : broken_(broken) {}
  Eigen::Index size_in() const override { return 3; }
  Eigen::Index size_out() const override { return 2; }
  std::string name() const override { return "test::BrokenLinear"; }

 private:
  static Eigen::MatrixXd a() { return (Eigen::MatrixXd(2, 3) << 1, 2, 3, -4, 5, 6).finished(); }
  class At final : public Linearization {
   public:
    At(Break broken, Eigen::VectorXd value) : Linearization(3, std::move(value)), broken_(broken) {}

   private:
    Eigen::MatrixXd do_jvp(const ConstMatrixRef& v) const override {
      const bool wrong = broken_ == Break::batch && v.cols() > 1;
      return (wrong ? 1.0 + 1e-6 : 1.0) * (a() * v);
    }
    Eigen::MatrixXd do_vjp(const ConstMatrixRef& w) const override {
      Eigen::MatrixXd at = a().transpose();
      if (broken_ == Break::vjp) at(0, 1) *= -1.0;
      const bool wrong = broken_ == Break::batch && w.cols() > 1;
      return (wrong ? 1.0 + 1e-6 : 1.0) * (at * w);
    }
    Eigen::MatrixXd do_jacobian() const override { return broken_ == Break::jacobian ? 1.001 * a() : a(); }
    JacobianRows do_local_jacobian() const override {
      return {{1}, (broken_ == Break::own_rows ? 1.001 : 1.0) * a().row(1)};
    }
    Eigen::MatrixXd do_row_product(Eigen::MatrixXd w) const override {
      return (broken_ == Break::row_product ? 1.001 : 1.0) * (w * a());
    }
    JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
      if (left != nullptr) return Linearization::do_local_rows(left, inner);
      return {{1}, inner->row_product((broken_ == Break::through ? 1.001 : 1.0) * a().row(1))};
    }
    Break broken_;
  };
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<At>(broken_, a() * x);
  }
  Break broken_;
};

const Eigen::VectorXd x = (Eigen::VectorXd(5) << 0.3, -1.2, 2.0, 0.0, 1.1).finished();
const Eigen::Vector3d x3(0.5, -2.0, 1.0);

}  // namespace

TEST_CASE("check_derivative: a right derivative shows order 2", "[core]") {
  const auto result = check_derivative(*exponential(1.0), x);
  INFO(result.report);
  CHECK(result.passed);
  CHECK(result.figure == Approx(2.0).margin(0.05));
  CHECK(result.steps.size() == 7);
  CHECK(result.remainders.size() == 7);
  CHECK(result.report.find("Taylor test of exp") == 0);
}

TEST_CASE("check_derivative: a derivative wrong by one part in a thousand fails", "[core]") {
  CHECK_FALSE(check_derivative(*exponential(1.001), x).passed);
  CHECK_FALSE(check_derivative(*exponential(0.0), x).passed);
  CHECK_FALSE(check_derivative(*exponential(-1.0), x).passed);
}

TEST_CASE("check_derivative: a large constant does not hide a wrong derivative", "[core]") {
  CHECK(check_derivative(*exponential(1.0, 1e6), x).passed);
  CHECK_FALSE(check_derivative(*exponential(1.1, 1e6), x).passed);
  CHECK_FALSE(check_derivative(*exponential(1.1, 1e12), x).passed);
}

TEST_CASE("check_derivative: linear and constant maps pass by their remainder", "[core]") {
  const auto linear = check_derivative(BrokenLinear(BrokenLinear::Break::none), x3);
  CHECK(linear.passed);
  CHECK(linear.report.find("linear") != std::string::npos);
  CHECK(check_derivative(*affine(Eigen::MatrixXd::Zero(2, 3), Eigen::Vector2d(1.0, 2.0)), x3).passed);
}

TEST_CASE("check_derivative: holds at x = 0", "[core]") {
  CHECK(check_derivative(*exponential(1.0), Eigen::VectorXd::Zero(5)).passed);
}

TEST_CASE("check_derivative: the same seed gives the same figures", "[core]") {
  const auto first = check_derivative(*exponential(1.0), x), second = check_derivative(*exponential(1.0), x);
  CHECK(first.remainders == second.remainders);
  CHECK(check_derivative(*exponential(1.0), x, {.seed = 2}).remainders != first.remainders);
}

TEST_CASE("check_adjoint: a right adjoint passes to rounding", "[core]") {
  const auto result = check_adjoint(BrokenLinear(BrokenLinear::Break::none), x3);
  INFO(result.report);
  CHECK(result.passed);
  CHECK(result.figure < 1e-14);
}

TEST_CASE(
    "check_adjoint: a wrong vjp, a wrong dense Jacobian, wrong rows and a batch unlike its columns fail",
    "[core]") {
  using enum BrokenLinear::Break;
  for (const auto broken : {vjp, jacobian, own_rows, row_product, through, batch}) {
    const auto result = check_adjoint(BrokenLinear(broken), x3);
    INFO(result.report);
    CHECK_FALSE(result.passed);
  }
}

TEST_CASE("map checks: options that probe nothing are refused", "[core]") {
  CHECK_THAT(
      error_of<InvalidArgument>([&] { (void)check_derivative(*exponential(1.0), x, {.n_directions = 0}); }),
      HasId("wrong_options", {"0"}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)check_adjoint(*exponential(1.0), x, {.n_steps = 1}); }),
             HasId("wrong_options", {"1"}));
}
