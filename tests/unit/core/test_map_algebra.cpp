// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <limits>

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

/// y = A x as `OneOfThree`, but this rank also makes what stands on the left: of the rows whose outputs are 2
/// and 0 alone.
class SharedRows final : public DifferentiableMap {
 public:
  explicit SharedRows(Eigen::MatrixXd a) : a_(std::move(a)) {}
  Eigen::Index size_in() const override { return a_.cols(); }
  Eigen::Index size_out() const override { return a_.rows(); }
  std::string name() const override { return "test::SharedRows"; }
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
    JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
      if (left == nullptr) return Linearization::do_local_rows(nullptr, inner);
      JacobianRows block;
      for (Eigen::Index row = 0; row < left->rows(); ++row) {
        bool is_mine = true;
        for (SparseRows::InnerIterator entry(*left, row); entry; ++entry)
          is_mine = is_mine && (entry.col() == 2 || entry.col() == 0);
        if (is_mine) block.rows.push_back(row);
      }
      block.values = (left->toDense() * a_)(block.rows, Eigen::all);
      if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
      return block;
    }
    Eigen::MatrixXd a_;
  };
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& at) const override {
    return std::make_unique<At>(a_, a_ * at);
  }
  Eigen::MatrixXd a_;
};

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

TEST_CASE("parallel: inputs and outputs lie one below the other, the Jacobian is block-diagonal", "[core]") {
  const Eigen::MatrixXd a = example_matrix(3, 2);
  const auto both = parallel({affine(a, Eigen::VectorXd::Ones(3)), exponential(1)});
  const Eigen::VectorXd value = both->value(x);
  CHECK(both->name() == "parallel(core::affine, exp)");
  CHECK(value.head(3).isApprox(a * x.head(2) + Eigen::VectorXd::Ones(3)));
  CHECK(value[3] == std::exp(x[2]));
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(4, 3);
  expected.topLeftCorner(3, 2) = a;
  expected(3, 2) = std::exp(x[2]);
  const auto at_x = both->linearize(x);
  CHECK(at_x->jacobian() == expected);
  CHECK(at_x->jvp(Eigen::Matrix3d::Identity()).isApprox(expected));
  CHECK(at_x->vjp(Eigen::Matrix4d::Identity()).isApprox(expected.transpose()));
  CHECK_FALSE(at_x->sparse_jacobian());
  CHECK_THAT(error_of<InvalidArgument>([] { (void)parallel({}); }), HasId("no_map", {"[core::parallel]"}));
  CHECK_THAT(error_of<InvalidArgument>([] { (void)parallel({exponential(1), nullptr}); }), HasId("no_map"));
  CHECK_THAT(error_of<InvalidArgument>([] {
               (void)parallel({std::make_shared<OnCommunicator>(1), std::make_shared<OnCommunicator>(2)});
             }),
             HasId("two_communicators", {"1", "2"}));
}

TEST_CASE("select: takes entries in any order, repeated ones add up in the adjoint", "[core]") {
  const auto some = select(3, {2, 0, 2, 2});
  const auto at_x = some->linearize(x);
  CHECK(some->value(x) == Eigen::Vector4d(x[2], x[0], x[2], x[2]));
  CHECK(at_x->vjp(Eigen::Vector4d(1.0, 2.0, 3.0, 4.0)) == Eigen::Vector3d(2.0, 0.0, 8.0));
  CHECK(at_x->row_product(Eigen::RowVector4d(1.0, 2.0, 3.0, 4.0)) == Eigen::RowVector3d(2.0, 0.0, 8.0));
  CHECK(at_x->jvp(x) == some->value(x));
  CHECK(at_x->sparse_jacobian()->toDense() == at_x->jacobian());
  CHECK(select(3, {})->size_out() == 0);
  CHECK_THAT(error_of<InvalidArgument>([] { (void)select(3, {3}); }), HasId("wrong_index", {"0 … 2", "3"}));
  CHECK_THAT(error_of<InvalidArgument>([] { (void)select(3, {-1}); }), HasId("wrong_index", {"-1"}));
}

TEST_CASE("sparse_jacobian: maps made of cheap maps are cheap, others have none", "[core]") {
  CHECK_FALSE(affine(example_matrix(2, 3), Eigen::VectorXd::Zero(2))->linearize(x)->sparse_jacobian());
  const auto of_five =
      compose(select(5, {4, 1, 1}), parallel({exponential(1), stack({exponential(3), select(3, {0})})}));
  const Eigen::Vector4d y(0.1, 0.2, 0.3, 0.4);
  const auto at_y = of_five->linearize(y);
  REQUIRE(at_y->sparse_jacobian());
  CHECK(at_y->sparse_jacobian()->toDense().isApprox(at_y->jacobian()));
  const auto part = restrict_unknowns(of_five, {1}, y)->linearize(Eigen::VectorXd::Constant(1, 0.2));
  REQUIRE(part->sparse_jacobian());
  CHECK(part->sparse_jacobian()->toDense() == Eigen::Vector3d(1.0, std::exp(0.2), std::exp(0.2)));
  CHECK_FALSE(stack({exponential(3), affine(example_matrix(2, 3), Eigen::VectorXd::Zero(2))})
                  ->linearize(x)
                  ->sparse_jacobian());
}

TEST_CASE("local_rows: behind a cheap map a rank holds the rows of the shared inner map that it can make",
          "[core]") {
  const auto shared = std::make_shared<SharedRows>(example_matrix(4, 3));
  const auto at_x = compose(select(4, {1, 2, 0}), shared)->linearize(x);
  const Eigen::MatrixXd expected = example_matrix(4, 3)(Rows{1, 2, 0}, Eigen::all);
  CHECK(at_x->jacobian().isApprox(expected));
  const JacobianRows block = at_x->local_jacobian();
  CHECK(block.rows == Rows{1, 2});  // outputs 2 and 0 lie on this rank
  CHECK(block.values.isApprox(expected(block.rows, Eigen::all)));

  // two cheap maps in a row are one factor on the left
  const auto nested =
      compose(select(3, {2, 0}), compose(exponential(3), compose(select(4, {1, 2, 0}), shared)));
  const auto at_nested = compose(select(2, {1, 0}), nested)->linearize(x);
  CHECK(own_rows(*at_nested) == Rows{1});

  // transform ∘ (shared ∘ exp ⊕ exp): the serial part follows the rows of the shared one
  const auto both =
      compose(select(6, {5, 2, 0, 1}), parallel({compose(shared, exponential(3)), exponential(2)}));
  const Eigen::VectorXd z = Eigen::VectorXd::LinSpaced(5, -0.2, 0.3);
  const JacobianRows rows = both->linearize(z)->local_jacobian();
  CHECK(rows.rows == Rows{0, 1, 2});
  CHECK(rows.values.isApprox(both->linearize(z)->jacobian()(rows.rows, Eigen::all)));

  const auto serial = affine(example_matrix(2, 2), Eigen::VectorXd::Zero(2));
  CHECK(own_rows(*parallel({serial, std::make_shared<OneOfThree>(example_matrix(4, 3))})->linearize(z)) ==
        Rows{0, 1, 4, 2});

  const auto twice = compose(select(8, {0, 7}), parallel({shared, shared}));
  CHECK(own_rows(*twice->linearize(Eigen::VectorXd::LinSpaced(6, -0.2, 0.3))) == Rows{0, 1});
}

TEST_CASE("local_rows: a factor and an inner map that do not fit are refused", "[core]") {
  const auto at_x = exponential(3)->linearize(x);
  const auto inner =
      affine(example_matrix(2, 2), Eigen::VectorXd::Zero(2))->linearize(Eigen::Vector2d::Zero());
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->local_rows(SparseRows(1, 2)); }),
             HasId("wrong_left", {"3", "2"}));
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->local_rows(SparseRows(1, 3), *inner); }),
             HasId("wrong_inner_map", {"3", "2"}));
}

TEST_CASE("compose, stack, restrict and parallel: rows that are not finite are found whoever holds them",
          "[core]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto broken = pointwise(
      "broken", 2, [](double v) { return v; }, [nan](double) { return nan; });
  const auto identity = affine(Eigen::MatrixXd::Identity(2, 2), Eigen::VectorXd::Zero(2));
  const Eigen::VectorXd x = Eigen::VectorXd::Ones(2);
  for (const MapPtr& map : {compose(identity, broken), compose(broken, identity), stack({identity, broken}),
                            restrict_unknowns(broken, {1}, x)}) {
    const auto at = map->linearize(x.head(map->size_in()));
    CHECK_THAT(error_of<SolverError>([&] { static_cast<void>(at->local_jacobian()); }), HasId("not_finite"));
    const auto inner =
        affine(Eigen::MatrixXd::Identity(map->size_in(), 3), Eigen::VectorXd::Zero(map->size_in()))
            ->linearize(Eigen::VectorXd::Ones(3));
    CHECK_THAT(error_of<SolverError>([&] { static_cast<void>(at->local_rows(*inner)); }),
               HasId("not_finite"));
    SparseRows left(1, map->size_out());
    for (int column = 0; column < left.cols(); ++column) left.insert(0, column) = 1.0;
    CHECK_THAT(error_of<SolverError>([&] { static_cast<void>(at->local_rows(left)); }), HasId("not_finite"));
  }
}
