// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

MapPtr exponential(Eigen::Index size) {
  const auto f = [](double v) { return std::exp(v); };
  return pointwise("exp", size, f, f);
}

Eigen::MatrixXd example_matrix(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return std::sin(1.0 + 3.0 * static_cast<double>(i) + static_cast<double>(j));
  });
}

/// A map that says it is collective over a communicator.
class OnCommunicator final : public DifferentiableMap {
 public:
  explicit OnCommunicator(int id) : id_(id) {}
  Eigen::Index size_in() const override { return 2; }
  Eigen::Index size_out() const override { return 2; }
  std::string name() const override { return "test::OnCommunicator"; }
  int communicator_id() const override { return id_; }

 private:
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return exponential(2)->linearize(x);
  }
  int id_;
};

/// y = A x over a communicator of three ranks, as one of them sees it: it holds rows 2 and 0, in this order.
class OneOfThree final : public DifferentiableMap {
 public:
  explicit OneOfThree(Eigen::MatrixXd a) : a_(std::move(a)) {}
  Eigen::Index size_in() const override { return a_.cols(); }
  Eigen::Index size_out() const override { return a_.rows(); }
  std::string name() const override { return "test::OneOfThree"; }
  int communicator_id() const override { return 7; }

 private:
  class At final : public Linearization {
   public:
    At(const Eigen::MatrixXd& a, Eigen::VectorXd value) : Linearization(a.cols(), std::move(value)), a_(a) {}

   private:
    Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override { return a_ * directions; }
    Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
      return a_.transpose() * directions;
    }
    Eigen::MatrixXd do_jacobian() const override { return a_; }
    JacobianRows do_local_jacobian() const override {
      return {{2, 0}, a_(std::vector<Eigen::Index>{2, 0}, Eigen::all)};
    }
    Eigen::MatrixXd a_;
  };
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& at) const override {
    return std::make_unique<At>(a_, a_ * at);
  }
  Eigen::MatrixXd a_;
};

using Rows = std::vector<Eigen::Index>;

/// The rows a linearization holds, or {-1} when they, or products with them, are not those of its dense
/// Jacobian.
Rows own_rows(const Linearization& at) {
  const Eigen::MatrixXd w = example_matrix(5, at.size_out());
  if (!at.row_product(w).isApprox(w * at.jacobian(), 1e-14)) return {-1};
  const JacobianRows block = at.local_jacobian();
  const Eigen::MatrixXd expected = at.jacobian()(block.rows, Eigen::all);
  return block.values.isApprox(expected, 1e-15) ? block.rows : Rows{-1};
}

const Eigen::Vector3d x(0.1, -0.4, 0.7);

}  // namespace

TEST_CASE("compose: value and Jacobian follow the chain rule, whichever side is diagonal", "[core]") {
  const Eigen::MatrixXd a = example_matrix(4, 3);
  const Eigen::VectorXd b = Eigen::VectorXd::Constant(4, 0.5);
  const auto outer_affine = compose(affine(a, b), exponential(3));
  const Eigen::VectorXd inner = x.array().exp();
  CHECK(outer_affine->value(x).isApprox(a * inner + b));
  CHECK(outer_affine->linearize(x)->jacobian().isApprox(a * inner.asDiagonal()));
  CHECK(outer_affine->name() == "core::affine ∘ exp");

  const auto outer_pointwise = compose(exponential(4), affine(a, b));
  const Eigen::VectorXd y = (a * x + b).array().exp();
  CHECK(outer_pointwise->value(x).isApprox(y));
  CHECK(outer_pointwise->linearize(x)->jacobian().isApprox(y.asDiagonal() * a));
}

TEST_CASE("compose: is associative", "[core]") {
  const auto first = affine(example_matrix(4, 3), Eigen::VectorXd::Zero(4)),
             last = affine(example_matrix(2, 4), Eigen::VectorXd::Ones(2));
  const auto left = compose(compose(last, exponential(4)), first),
             right = compose(last, compose(exponential(4), first));
  CHECK(left->value(x).isApprox(right->value(x)));
  CHECK(left->linearize(x)->jacobian().isApprox(right->linearize(x)->jacobian()));
}

TEST_CASE("compose: maps that do not fit are refused by name", "[core]") {
  CHECK_THAT(error_of<ShapeError>([] { (void)compose(exponential(4), exponential(3)); }),
             HasId("wrong_size", {"[core::compose]", "4", "3"}));
  CHECK_THAT(error_of<InvalidArgument>([] { (void)compose(nullptr, exponential(3)); }),
             HasId("no_map", {"[core::compose]"}));
}

TEST_CASE("compose: serial maps join a communicator, two communicators do not mix", "[core]") {
  const auto one = std::make_shared<OnCommunicator>(1), two = std::make_shared<OnCommunicator>(2);
  CHECK(compose(one, exponential(2))->communicator_id() == 1);
  CHECK(compose(exponential(2), two)->communicator_id() == 2);
  CHECK(compose(exponential(2), exponential(2))->communicator_id() == 0);
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)compose(one, two); }),
             HasId("two_communicators", {"[core::compose]", "1", "2"}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)stack({one, two}); }), HasId("two_communicators"));
}

TEST_CASE("stack: outputs and Jacobians lie one below the other", "[core]") {
  const Eigen::MatrixXd a = example_matrix(2, 3);
  const auto both = stack({affine(a, Eigen::VectorXd::Zero(2)), exponential(3)});
  const Eigen::VectorXd inner = x.array().exp();
  CHECK(both->size_out() == 5);
  CHECK(both->value(x).head(2).isApprox(a * x));
  CHECK(both->value(x).tail(3).isApprox(inner));
  const Eigen::MatrixXd jacobian = both->linearize(x)->jacobian();
  CHECK(jacobian.topRows(2).isApprox(a));
  CHECK(jacobian.bottomRows(3).isApprox(inner.asDiagonal().toDenseMatrix()));
  CHECK(both->linearize(x)
            ->vjp(Eigen::VectorXd::Ones(5))
            .isApprox(jacobian.transpose() * Eigen::VectorXd::Ones(5)));
  CHECK(both->name() == "stack(core::affine, exp)");
}

TEST_CASE("stack: nothing, or maps of other unknowns, are refused", "[core]") {
  CHECK_THAT(error_of<InvalidArgument>([] { (void)stack({}); }), HasId("no_map", {"[core::stack]"}));
  CHECK_THAT(error_of<ShapeError>([] {
               (void)stack({exponential(3), exponential(2)});
             }),
             HasId("wrong_size", {"[core::stack]", "3", "2"}));
}

TEST_CASE("restrict_unknowns: is the map with the other unknowns held", "[core]") {
  const Eigen::MatrixXd a = example_matrix(4, 3);
  const auto whole = compose(affine(a, Eigen::VectorXd::Zero(4)), exponential(3));
  const auto part = restrict_unknowns(whole, {2, 0}, x);
  const Eigen::Vector2d free(0.3, -1.0);
  const Eigen::Vector3d full(-1.0, x[1], 0.3);
  CHECK(part->value(free).isApprox(whole->value(full)));
  const Eigen::MatrixXd expected =
      whole->linearize(full)->jacobian()(Eigen::all, std::vector<Eigen::Index>{2, 0});
  CHECK(part->linearize(free)->jacobian().isApprox(expected));
  CHECK(part->linearize(free)->jvp(Eigen::Matrix2d::Identity()).isApprox(expected));
  CHECK(part->linearize(free)->vjp(Eigen::Matrix4d::Identity()).isApprox(expected.transpose()));
}

TEST_CASE("restrict_unknowns: repeated or outside indices and a wrong base are refused", "[core]") {
  const auto whole = exponential(3);
  CHECK_THAT(error_of<InvalidArgument>([&] {
               (void)restrict_unknowns(whole, {0, 0}, x);
             }),
             HasId("wrong_index", {"[core::restrict_unknowns]", "0", "2"}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)restrict_unknowns(whole, {3}, x); }),
             HasId("wrong_index", {"[core::restrict_unknowns]", "0", "2", "3"}));
  CHECK_THAT(error_of<ShapeError>([&] { (void)restrict_unknowns(whole, {0}, Eigen::Vector2d::Zero()); }),
             HasId("wrong_base", {"[core::restrict_unknowns]", "3", "2"}));
}

TEST_CASE("compose: pointwise maps in a chain are one diagonal for the Jacobian of the map before them",
          "[core]") {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(3, 4);
  const Eigen::VectorXd x = Eigen::VectorXd::Random(4);
  const auto chain = compose(exponential(4), exponential(4));
  const Eigen::VectorXd y = chain->value(x), slope = y.cwiseProduct(x.array().exp().matrix());
  CHECK(chain->linearize(x)->jvp(x).col(0).isApprox(slope.cwiseProduct(x)));
  CHECK(compose(affine(a, Eigen::VectorXd::Zero(3)), chain)
            ->linearize(x)
            ->jacobian()
            .isApprox(a * slope.asDiagonal()));
}

TEST_CASE("affine and pointwise: inconsistent parts are refused", "[core]") {
  CHECK_THAT(
      error_of<ShapeError>([] { (void)affine(Eigen::MatrixXd::Zero(2, 3), Eigen::VectorXd::Zero(3)); }),
      HasId("wrong_size", {"[core::affine]", "2", "3"}));
  CHECK_THROWS_AS(pointwise(
                      "half a map", 3, [](double v) { return v; }, nullptr),
                  InvalidArgument);
}

TEST_CASE("pointwise: a value outside the function's domain is a solver error that names the map", "[core]") {
  const auto logarithm = pointwise(
      "log", 3, [](double v) { return std::log(v); }, [](double v) { return 1.0 / v; });
  CHECK_THAT(error_of<SolverError>([&] { (void)logarithm->value(Eigen::Vector3d(1.0, -1.0, 2.0)); }),
             HasId("not_finite", {"[log]"}));
}

TEST_CASE("linearization: outlives the map it came from", "[core]") {
  std::unique_ptr<Linearization> at_x;
  {
    const auto map = compose(stack({affine(example_matrix(2, 3), Eigen::VectorXd::Zero(2)), exponential(3)}),
                             exponential(3));
    at_x = restrict_unknowns(map, {1}, x)->linearize(Eigen::VectorXd::Zero(1));
  }
  CHECK(at_x->jvp(Eigen::MatrixXd::Ones(1, 1)).isApprox(at_x->jacobian()));
}

TEST_CASE("local Jacobian: compose, stack and restrict keep a rank's rows, a serial map gives all of them",
          "[core]") {
  const auto shared = std::make_shared<OneOfThree>(example_matrix(4, 3));
  const auto serial = affine(example_matrix(2, 3), Eigen::VectorXd::Zero(2));
  const auto square = affine(example_matrix(3, 3), Eigen::VectorXd::Zero(3));
  CHECK(own_rows(*serial->linearize(x)) == Rows{0, 1});
  CHECK(own_rows(*compose(exponential(4), shared)->linearize(x)) == Rows{2, 0});
  CHECK(own_rows(*compose(shared, exponential(3))->linearize(x)) == Rows{2, 0});
  CHECK(own_rows(*compose(shared, square)->linearize(x)) == Rows{2, 0});
  CHECK(own_rows(*compose(exponential(4), compose(shared, compose(exponential(3), exponential(3))))
                      ->linearize(x)) == Rows{2, 0});
  CHECK(own_rows(*stack({serial, shared, serial})->linearize(x)) == Rows{0, 1, 4, 2, 6, 7});
  CHECK(own_rows(*compose(stack({serial, shared, serial}), square)->linearize(x)) == Rows{0, 1, 4, 2, 6, 7});
  CHECK(own_rows(*restrict_unknowns(shared, {2, 0}, x)->linearize(Eigen::Vector2d(0.3, 0.1))) == Rows{2, 0});
}

TEST_CASE(
    "local Jacobian: behind a map that is no diagonal, rows of a shared inner map are held by every rank",
    "[core]") {
  const auto shared = std::make_shared<OneOfThree>(example_matrix(4, 3));
  CHECK(own_rows(*compose(affine(example_matrix(2, 4), Eigen::VectorXd::Zero(2)), shared)->linearize(x)) ==
        Rows{0, 1});
}
