// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

struct Point : Module {
  explicit Point(const Tensor& at) : x(add_parameter("x", at)) {}
  Variable x;
};

/// Minimum at (3, -1), curvatures 1 and 10.
Tensor valley(const Tensor& x) { return sum(row({0.5, 5.0}) * square(x - row({3.0, -1.0}))); }

double height_after(const Optimizer& optimizer, const Point& point, int n) {
  for (int i = 0; i < n; ++i) {
    optimizer.step(value_and_grad([&] { return valley(point.x.value()); }, optimizer.trained()).gradients);
    point.x.value().eval();
  }
  return valley(point.x.value()).item<double>();
}

}  // namespace

TEST_CASE("optimizers: find the minimum of a valley", "[engine][optim]") {
  const Point a(row({0, 0})), b(row({0, 0})), c(row({0, 0})), d(row({0, 0}));
  CHECK(height_after(Sgd(a, {.learning_rate = 0.1}), a, 200) < 1e-12);
  CHECK(height_after(Sgd(b, {.learning_rate = 0.05, .momentum = 0.7}), b, 200) < 1e-12);
  CHECK(height_after(Sgd(c, {.learning_rate = 0.05, .momentum = 0.7, .kind = Momentum::nesterov}), c, 200) <
        1e-12);
  CHECK(height_after(Adam(d, {.learning_rate = exponential_decay({.rate = 0.3, .factor = 0.98})}), d, 500) <
        1e-6);
}

TEST_CASE("optimizers: complex parameters descend along both parts", "[engine][optim]") {
  const Tensor target = full({2}, {1.0, -2.0}, DType::c128);
  const auto distance_after = [&](const auto& make) {
    const Point point(full({2}, 0.0, DType::c128));
    const auto optimizer = make(point);
    for (int i = 0; i < 300; ++i)
      optimizer.step(
          value_and_grad([&] { return mean_squared_error(point.x.value(), target); }, optimizer.trained())
              .gradients);
    return max(abs(point.x.value() - target)).template item<double>();
  };
  CHECK(distance_after([](const Point& p) { return Sgd(p, {.learning_rate = 0.1, .momentum = 0.5}); }) <
        1e-9);
  CHECK(distance_after([](const Point& p) {
          return Adam(p, {.learning_rate = exponential_decay({.rate = 0.1, .factor = 0.98})});
        }) < 1e-2);
}

TEST_CASE("optimizers: weight decay pulls towards zero, through the gradient or beside it",
          "[engine][optim]") {
  const Tensor none = row({0, 0});
  const auto after_one = [&](const auto& make) {
    const Point point(row({2, -4}));
    make(point).step({none});
    return point.x.value().template to_vector<double>();
  };
  CHECK(after_one([](const Point& p) { return Sgd(p, {.learning_rate = 0.1, .weight_decay = 0.5}); }) ==
        std::vector<double>{1.9, -3.8});
  CHECK(after_one([](const Point& p) { return AdamW(p, {.learning_rate = 0.1, .weight_decay = 0.5}); }) ==
        std::vector<double>{1.9, -3.8});
  const auto through_moments =
      after_one([](const Point& p) { return Adam(p, {.learning_rate = 0.1, .weight_decay = 0.5}); });
  CHECK(through_moments[0] == Approx(1.9));
  CHECK(through_moments[1] == Approx(-3.9));
}

TEST_CASE("optimizers: go on from a saved state as if nothing had happened", "[engine][optim]") {
  const auto make = [](const Point& point) {
    return Adam(point, {.learning_rate = cosine_decay({.rate = 0.1, .n_steps = 30})});
  };
  const Point a(row({0, 0})), b(row({9, 9}));
  const Adam first = make(a), second = make(b);
  static_cast<void>(height_after(first, a, 7));
  first.scale_learning_rate(0.5);
  CHECK(first.state().size() == 4);
  CHECK(first.state().contains("second_moment.x"));
  b.load_state(a.state());
  second.load_state(first.state());
  CHECK(second.n_steps() == 7);
  CHECK(second.learning_rate() == first.learning_rate());
  CHECK(height_after(first, a, 7) == height_after(second, b, 7));
  CHECK(a.x.value().to_vector<double>() == b.x.value().to_vector<double>());
}

TEST_CASE("optimizers: gradients that are not those of the parameters are refused by name",
          "[engine][optim]") {
  const Point point(row({0, 0}));
  const Sgd sgd(point);
  CHECK_THAT(error_of<core::ShapeError>([&] { sgd.step({}); }), HasId("wrong_gradient_count", {"1", "0"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { sgd.step({row({1})}); }),
             HasId("wrong_gradient", {"f64[2]", "\"x\"", "f64[1]"}));
  struct Nothing : Module {};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Sgd(Nothing())); }),
             HasId("no_parameters"));
}

TEST_CASE("schedules: follow their formulas", "[engine][optim]") {
  CHECK(Schedule(0.1)(1000) == 0.1);
  const Schedule steps = step_decay({.rate = 1.0, .every = 10, .factor = 0.5});
  CHECK(steps(9) == 1.0);
  CHECK(steps(10) == 0.5);
  CHECK(steps(25) == 0.25);
  CHECK(exponential_decay({.rate = 2.0, .factor = 0.5})(3) == 0.25);
  const Schedule cosine = cosine_decay({.rate = 1.0, .n_steps = 100, .lowest = 0.2});
  CHECK(cosine(0) == 1.0);
  CHECK(cosine(50) == Approx(0.6));
  CHECK(cosine(100) == Approx(0.2));
  CHECK(cosine(1000) == Approx(0.2));
  const Schedule warm = warm_up(4, cosine);
  CHECK(warm(0) == 0.25);
  CHECK(warm(3) == 1.0);
  CHECK(warm(54) == Approx(0.6));
  CHECK_THROWS_AS(warm_up(0, cosine), core::InvalidArgument);
}

TEST_CASE("gradients: clipping keeps the direction by norm and the signs by value", "[engine][optim]") {
  const Tensors gradients{row({3, 0}), row({-4})};
  CHECK(norm_of(gradients).item<double>() == 5.0);
  const Tensors by_norm = clipped_by_norm(gradients, 1.0);
  CHECK(by_norm[0].to_vector<double>()[0] == Approx(0.6));
  CHECK(by_norm[1].to_vector<double>()[0] == Approx(-0.8));
  CHECK(clipped_by_norm(gradients, 6.0)[1].to_vector<double>() == std::vector<double>{-4});
  CHECK(clipped_by_norm({row({0})}, 1.0)[0].to_vector<double>() == std::vector<double>{0});
  CHECK(clipped_by_value(gradients, 2.0)[0].to_vector<double>() == std::vector<double>{2, 0});
  CHECK(clipped_by_value(gradients, 2.0)[1].to_vector<double>() == std::vector<double>{-2});
  const Tensors complex{full({1}, {3.0, 4.0}, DType::c128)};
  CHECK(norm_of(complex).item<double>() == 5.0);
  CHECK(std::abs(clipped_by_norm(complex, 1.0)[0].to_vector<std::complex<double>>()[0] -
                 std::complex<double>(0.6, 0.8)) < 1e-15);
}

TEST_CASE("gradients: the mean over two half batches is the gradient of the whole", "[engine][optim]") {
  InitialValues initial(3, DType::f64);
  const Linear net(3, 1, initial);
  const Tensor x = InitialValues(1, DType::f64).draw({6, 3}, normal_around(0, 1)),
               y = InitialValues(2, DType::f64).draw({6, 1}, normal_around(0, 1));
  const auto slope = [&](Dim first, Dim last) {
    return value_and_grad(
               [&] { return mean_squared_error(net(slice(x, 0, first, last)), slice(y, 0, first, last)); },
               net.parameters())
        .gradients;
  };
  GradientMean together;
  together.add(slope(0, 3));
  together.add(slope(3, 6));
  CHECK(together.n_added() == 2);
  const Tensors parts = together.take(), whole = slope(0, 6);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(max(abs(parts[i] - whole[i])).item<double>() < 1e-15);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(together.take()); }),
             HasId("nothing_added"));
}
