// SPDX-License-Identifier: Apache-2.0
#include "engine/core/differentiable_map.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <limits>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

/// A fault of a map.
enum class Fault { none, too_many_outputs, nan_output, wrong_size_in, wrong_jvp_shape, nan_vjp };

/// y_i = x_0² + i; counts its vjp columns.
class Squares final : public DifferentiableMap {
 public:
  explicit Squares(Fault fault = Fault::none, Eigen::Index n_out = 130) : fault_(fault), n_out_(n_out) {}
  Eigen::Index size_in() const override { return 2; }
  Eigen::Index size_out() const override { return n_out_; }
  std::string name() const override { return "test::Squares"; }

  mutable std::vector<Eigen::Index> vjp_columns;

 private:
  class At final : public Linearization {
   public:
    At(const Squares& map, Eigen::Index size_in, Eigen::VectorXd value, double slope)
        : Linearization(size_in, std::move(value)), map_(map), slope_(slope) {}

   private:
    Eigen::MatrixXd do_jvp(const ConstMatrixRef& v) const override {
      const Eigen::Index rows = map_.fault_ == Fault::wrong_jvp_shape ? 1 : size_out();
      return slope_ * v.row(0).replicate(rows, 1);
    }
    Eigen::MatrixXd do_vjp(const ConstMatrixRef& w) const override {
      map_.vjp_columns.push_back(w.cols());
      Eigen::MatrixXd result = Eigen::MatrixXd::Zero(2, w.cols());
      result.row(0) = slope_ * w.colwise().sum();
      if (map_.fault_ == Fault::nan_vjp) result(1, 0) = std::numeric_limits<double>::quiet_NaN();
      return result;
    }
    const Squares& map_;
    double slope_;
  };

  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    const Eigen::Index rows = n_out_ + (fault_ == Fault::too_many_outputs ? 1 : 0);
    Eigen::VectorXd y =
        Eigen::VectorXd::LinSpaced(rows, 0.0, static_cast<double>(rows - 1)).array() + x[0] * x[0];
    if (fault_ == Fault::nan_output) y[3] = std::numeric_limits<double>::quiet_NaN();
    return std::make_unique<At>(*this, fault_ == Fault::wrong_size_in ? 3 : 2, std::move(y), 2.0 * x[0]);
  }

  Fault fault_;
  Eigen::Index n_out_;
};

/// Three outputs of two unknowns; hands out the rows it is given.
class GivenRows final : public Linearization {
 public:
  explicit GivenRows(JacobianRows block)
      : Linearization(2, Eigen::Vector3d::Zero()), block_(std::move(block)) {}

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    return Eigen::MatrixXd::Zero(3, directions.cols());
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return Eigen::MatrixXd::Zero(2, directions.cols());
  }
  JacobianRows do_local_jacobian() const override { return block_; }
  JacobianRows block_;
};

const Eigen::Vector2d x(3.0, 5.0);

}  // namespace

TEST_CASE("DifferentiableMap: the default value is that of the linearization", "[core]") {
  const Squares map;
  const Eigen::VectorXd value = map.value(x);
  CHECK(value.size() == 130);
  CHECK(value[0] == 9.0);
  CHECK(value == map.linearize(x)->value());
}

TEST_CASE("Linearization: the default Jacobian is built from vjp in blocks of unit vectors", "[core]") {
  const Squares map;
  const auto at_x = map.linearize(x);
  const Eigen::MatrixXd jacobian = at_x->jacobian();
  CHECK(jacobian.rows() == 130);
  CHECK(jacobian.col(0) == Eigen::VectorXd::Constant(130, 6.0));
  CHECK(jacobian.col(1) == Eigen::VectorXd::Zero(130));
  CHECK(map.vjp_columns == std::vector<Eigen::Index>{64, 64, 2});
}

TEST_CASE("Linearization: by default a rank holds every row of the Jacobian", "[core]") {
  const Squares map;
  const auto at_x = map.linearize(x);
  const JacobianRows block = at_x->local_jacobian();
  REQUIRE(block.rows.size() == 130);
  CHECK(block.rows.front() == 0);
  CHECK(block.rows.back() == 129);
  CHECK(block.values == at_x->jacobian());
}

TEST_CASE("Linearization: a rank's rows must be rows of the Jacobian, each once, with all unknowns",
          "[core]") {
  const auto fault_of = [](JacobianRows block) {
    return error_of<ShapeError>([&] { (void)GivenRows(block).local_jacobian(); });
  };
  CHECK_THAT(fault_of({{1, 1}, Eigen::MatrixXd::Zero(2, 2)}), HasId("wrong_rows", {"0 … 2", "1"}));
  CHECK_THAT(fault_of({{3}, Eigen::MatrixXd::Zero(1, 2)}), HasId("wrong_rows", {"0 … 2", "3"}));
  CHECK_THAT(fault_of({{0, 2}, Eigen::MatrixXd::Zero(1, 2)}), HasId("wrong_result", {"(2, 2)", "(1, 2)"}));
  CHECK(GivenRows({{}, Eigen::MatrixXd::Zero(0, 2)}).local_jacobian().rows.empty());
}

TEST_CASE(
    "Linearization: by default a product with rows is the vjp of their transpose, and a chain takes it of "
    "all rows",
    "[core]") {
  const Squares map;
  const auto at_x = map.linearize(x);
  Eigen::MatrixXd w = Eigen::MatrixXd::Random(3, 130);
  CHECK(at_x->row_product(w) == at_x->vjp(w.transpose()).transpose());
  CHECK(map.vjp_columns == std::vector<Eigen::Index>{3, 3});
  const Squares inner(Fault::none, 2);  // of (x₀² , x₀² + 1), whose slopes are 2 x₀
  const JacobianRows block = at_x->local_rows(*inner.linearize(x));
  CHECK(block.rows.size() == 130);
  CHECK(block.values.col(0) == Eigen::VectorXd::Constant(130, 36.0));
  CHECK(block.values.col(1).isZero());
}

TEST_CASE("DifferentiableMap: wrong or non-finite unknowns are refused before the map sees them", "[core]") {
  const Squares map;
  CHECK_THAT(error_of<ShapeError>([&] { (void)map.value(Eigen::Vector3d::Zero()); }),
             HasId("wrong_unknowns", {"[test::Squares]", "2", "3"}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)map.linearize(Eigen::Vector2d(1.0, std::nan(""))); }),
             HasId("unknowns_not_finite", {"[test::Squares]", "1", "2"}));
}

TEST_CASE("DifferentiableMap: faults of the map itself are found", "[core]") {
  CHECK_THAT(error_of<ShapeError>([] { (void)Squares(Fault::too_many_outputs).value(x); }),
             HasId("wrong_outputs", {"[test::Squares]", "130", "131"}));
  CHECK_THAT(error_of<SolverError>([] { (void)Squares(Fault::nan_output).linearize(x); }),
             HasId("not_finite", {"[test::Squares]", "130"}));
  CHECK_THAT(error_of<ShapeError>([] { (void)Squares(Fault::wrong_size_in).linearize(x); }),
             HasId("wrong_linearization", {"[test::Squares]", "2", "3"}));
}

TEST_CASE("Linearization: directions and results are checked", "[core]") {
  const Squares map;
  const auto at_x = map.linearize(x);
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->jvp(Eigen::MatrixXd::Zero(3, 4)); }),
             HasId("wrong_directions", {"[core::Linearization]", "2", "3", "4"}));
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->vjp(Eigen::MatrixXd::Zero(2, 1)); }),
             HasId("wrong_directions", {"[core::Linearization]", "130", "2"}));
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->row_product(Eigen::MatrixXd::Zero(3, 2)); }),
             HasId("wrong_directions", {"[core::Linearization]", "130", "2"}));
  CHECK_THAT(error_of<ShapeError>([&] { (void)at_x->local_rows(*at_x); }),
             HasId("wrong_inner_map", {"[core::Linearization]", "2", "130"}));
  CHECK_THAT(error_of<SolverError>([&] {
               (void)GivenRows({{0}, Eigen::MatrixXd::Constant(1, 2, HUGE_VAL)}).local_jacobian();
             }),
             HasId("not_finite", {"[core::Linearization]"}));
  const Squares bad_shape(Fault::wrong_jvp_shape), bad_number(Fault::nan_vjp);
  CHECK_THAT(error_of<ShapeError>([&] { (void)bad_shape.linearize(x)->jvp(x); }),
             HasId("wrong_result", {"[core::Linearization]", "130"}));
  CHECK_THAT(error_of<SolverError>([&] { (void)bad_number.linearize(x)->jacobian(); }),
             HasId("not_finite", {"[core::Linearization]"}));
}

TEST_CASE("Linearization: no directions give no columns", "[core]") {
  const Squares map;
  CHECK(map.linearize(x)->jvp(Eigen::MatrixXd::Zero(2, 0)).cols() == 0);
}
