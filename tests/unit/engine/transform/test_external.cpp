// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

/// Counts of the calls of a map.
struct Calls {
  int values = 0, linearizations = 0, products = 0, alive = 0;
  Eigen::Index right_hand_sides = 0;
  std::vector<double> first_unknown;
};
constexpr std::size_t held = 1 << 20;  // stated bytes of a linearization

/// y_i = x_i² x_0, which counts.
class Counting final : public core::DifferentiableMap {
 public:
  explicit Counting(Calls& calls) : calls_(calls) {}
  Eigen::Index size_in() const override { return 3; }
  Eigen::Index size_out() const override { return 3; }
  std::string name() const override { return "Counting"; }

 private:
  class At final : public core::Linearization {
   public:
    At(Calls& calls, const Eigen::VectorXd& x)
        : Linearization(3, x.array().square() * x[0]),
          calls_(calls),
          jacobian_(Eigen::MatrixXd((2.0 * x[0] * x).asDiagonal())) {
      jacobian_.col(0) += x.array().square().matrix();
      ++calls_.alive;
    }
    ~At() override { --calls_.alive; }
    std::size_t bytes() const override { return held; }

   private:
    Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& v) const override { return count(v), jacobian_ * v; }
    Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& w) const override {
      return count(w), jacobian_.transpose() * w;
    }
    void count(const core::ConstMatrixRef& directions) const {
      ++calls_.products;
      calls_.right_hand_sides += directions.cols();
    }
    Calls& calls_;
    Eigen::MatrixXd jacobian_;
  };
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    ++calls_.values;
    calls_.first_unknown.push_back(x[0]);
    return x.array().square() * x[0];
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    ++calls_.linearizations;
    return std::make_unique<At>(calls_, x);
  }
  Calls& calls_;
};

}  // namespace

TEST_CASE("external: a value is one call of the map, which runs when recorded, in program order",
          "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  const Tensor first = external(map, row({2, 3, 4})), second = external(map, row({1, 0, 0}));
  CHECK(calls.first_unknown == std::vector<double>{2, 1});
  CHECK(first.to_vector<double>() == std::vector<double>{8, 18, 32});
  CHECK(second.to_vector<double>() == std::vector<double>{1, 0, 0});
  CHECK(calls.values == 2);
  CHECK(calls.linearizations == 0);
}

TEST_CASE(
    "external: value and gradient cost one linearization and one adjoint right-hand side, after which "
    "nothing is held",
    "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  Arena& arena = Arena::of(default_device());
  const std::size_t before = arena.stats().in_use;
  arena.reset_peak();
  {
    const auto [value, gradients] =
        value_and_grad([&](const Tensors& x) -> Tensors { return {sum(square(external(map, exp(x[0]))))}; },
                       {row({0, 0, 0})});
    CHECK(arena.stats().peak >= before + held);
    CHECK(value.item<double>() == 3.0);
    CHECK(gradients[0].to_vector<double>() == std::vector<double>{10, 4, 4});
    CHECK(calls.alive == 0);
  }
  CHECK(arena.stats().in_use < before + held);
  CHECK(calls.values == 0);
  CHECK(calls.linearizations == 1);
  CHECK(calls.products == 1);
  CHECK(calls.right_hand_sides == 1);
}

TEST_CASE("external: k directions cost one call with k right-hand sides, forward and in reverse",
          "[engine]") {
  for (const JacobianMode mode : {JacobianMode::forward, JacobianMode::reverse}) {
    Calls calls;
    const core::MapPtr map = std::make_shared<Counting>(calls);
    const Tensor whole =
        jacobian([&](const Tensor& x) { return external(map, 2.0 * x); }, row({0.5, 1, 1.5}), mode);
    CHECK(whole.to_vector<double>() == std::vector<double>{6, 0, 0, 8, 8, 0, 18, 0, 12});
    CHECK(calls.linearizations == 1);
    CHECK(calls.products == 1);
    CHECK(calls.right_hand_sides == 3);
  }
}

TEST_CASE("external: several points are one after the other, each with its directions together", "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  const Tensor points = reshape(row({1, 2, 3, 2, 1, 0}), {2, 3});
  CHECK(vmap([&](const Tensor& x) { return external(map, x); })(points).to_vector<double>() ==
        std::vector<double>{1, 4, 9, 8, 2, 0});
  CHECK(calls.values == 2);
  const auto at = [&](const Tensor& x) {
    return jacobian([&](const Tensor& y) { return external(map, y); }, x);
  };
  const Tensor together = vmap(at)(points);
  CHECK(calls.linearizations == 2);
  CHECK(calls.right_hand_sides == 6);
  CHECK(together.to_vector<double>() ==
        concatenate(Tensors{at(row({1, 2, 3})), at(row({2, 1, 0}))}, 0).to_vector<double>());
}

TEST_CASE("external: Gauss-Newton is jvp then vjp of one linearization", "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  const Linearized at =
      linearize([&](const Tensors& x) -> Tensors { return {external(map, x[0])}; }, {row({1, 1, 1})});
  const Tensor product = at.vjp(at.jvp({row({1, 0, 0})}))[0];
  CHECK(product.to_vector<double>() == std::vector<double>{11, 2, 2});
  CHECK(calls.linearizations == 1);
}

TEST_CASE("external: other real dtypes are cast on the way in and out", "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  const auto f = [&](const Tensor& x) { return sum(external(map, x)); };
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  CHECK(f(x).item<float>() == 14.0F);
  CHECK(grad(f)(x).to_vector<float>() == std::vector<float>{16, 4, 6});
  CHECK(external(map, Tensor::from(std::vector<int>{1, 2, 3}, {3})).dtype() == DType::f64);
}

TEST_CASE("external: errors name the map", "[engine]") {
  Calls calls;
  const core::MapPtr map = std::make_shared<Counting>(calls);
  const auto f = [&](const Tensor& x) { return sum(external(map, x)); };
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(hessian_product(f, row({1, 2, 3}), row({1, 0, 0})));
             }),
             HasId("no_second_derivative", {"Counting", "(test_external.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(external(map, row({1, 2})));
             }),
             HasId("wrong_extent", {"3", "Counting", "f64[2]", "(test_external.cpp:"}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(external(map, full({3}, 1.0, DType::c128))); }),
      HasId("complex_unknowns", {"Counting", "c128[3]"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(external(nullptr, row({1}))); }),
             HasId("no_map"));
  CHECK_THROWS_AS(external(map, row({1, NAN, 2})), core::InvalidArgument);
}
