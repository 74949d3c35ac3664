// SPDX-License-Identifier: Apache-2.0
// Graphs that are as deep as they have ops: nothing may recurse along them.
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <exception>
#include <functional>
#include <pthread.h>

using namespace lodestone::engine;

namespace {

/// Runs f on a thread with an eighth of the usual stack, whatever this one's is, and with its default device.
void on_small_stack(std::function<void()> f) {
  struct Call {
    std::function<void()> f;
    Device device;
    std::exception_ptr thrown;
  } call{std::move(f), default_device(), {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 20);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    auto& mine = *static_cast<Call*>(argument);
    try {
      const DefaultDevice same(mine.device);
      mine.f();
    } catch (...) {
      mine.thrown = std::current_exception();
    }
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &call) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

template <class F>
double value_of(F f) {
  double result = 0.0;
  on_small_stack([&] { result = f(); });
  return result;
}

Tensor one() { return (full({}, 1.0, DType::f64) + 0.0).eval(); }

/// x + 1 + 1 …
Tensor counted_up(Tensor x, int n_ops) {
  const Tensor step = one();
  for (int i = 0; i < n_ops; ++i) x = x + step;
  return x;
}

/// sin sin … x, whose derivative needs every link.
Tensor repeated_sine(Tensor x, int n_ops) {
  for (int i = 0; i < n_ops; ++i) x = sin(x);
  return x;
}
double repeated_sine_slope(double x, int n_ops) {
  double slope = 1.0;
  for (int i = 0; i < n_ops; ++i) {
    slope *= std::cos(x);
    x = std::sin(x);
  }
  return slope;
}

constexpr int million = 1'000'000;
const Aval number{{}, DType::f64};

}  // namespace

TEST_CASE("depth: a million ops in a row run", "[engine]") {
  CHECK(value_of([] { return counted_up(one(), million).item<double>(); }) == 1.0 + million);
}

TEST_CASE("depth: a million ops in a row that were recorded without values are released", "[engine]") {
  CHECK(value_of([] {
          const Tensor end = counted_up(placeholder(number), million);
          return static_cast<double>(end.node().inputs.size());
        }) == 2.0);
}

TEST_CASE("depth: a function of a hundred thousand ops is recorded without values, run and released",
          "[engine]") {
  constexpr int n = 100'000;
  CHECK(value_of([] {
          const Function f = checkpoint([](const Tensors& x) -> Tensors { return {counted_up(x[0], n)}; });
          return f({one()})[0].item<double>();
        }) == 1.0 + n);
}

TEST_CASE("depth: the gradient of a hundred thousand ops in a row", "[engine]") {
  constexpr int n = 100'000;
  const auto f = [](const Tensor& x) { return repeated_sine(x, n); };
  CHECK(value_of([&] { return grad(f)(one()).item<double>(); }) ==
        Approx(repeated_sine_slope(1.0, n)).epsilon(1e-9));
}

TEST_CASE("depth: gradients of thirty thousand ops in a row, computed again and as a batch", "[engine]") {
  constexpr int n = 30'000;
  const auto f = [](const Tensor& x) { return repeated_sine(x, n); };
  const double slope = repeated_sine_slope(1.0, n);
  const Function again = checkpoint([&](const Tensors& x) -> Tensors { return {f(x[0])}; });
  CHECK(value_of([&] { return value_and_grad(again, {one()}).gradients[0].item<double>(); }) ==
        Approx(slope).epsilon(1e-9));
  CHECK(value_of([&] { return vmap(grad(f))(reshape(one(), {1})).item<double>(); }) ==
        Approx(slope).epsilon(1e-9));
}

TEST_CASE("depth: second derivatives of ten thousand ops in a row", "[engine]") {
  constexpr int n = 10'000;
  const auto f = [](const Tensor& x) { return repeated_sine(x, n); };
  constexpr double h = 1e-5;
  const double difference = (repeated_sine_slope(1.0 + h, n) - repeated_sine_slope(1.0 - h, n)) / (2.0 * h);
  CHECK(value_of([&] { return hessian_product(f, one(), one()).item<double>(); }) ==
        Approx(difference).epsilon(1e-6));
}

TEST_CASE("depth: two thousand functions in a row, each a node of its own", "[engine]") {
  constexpr int n = 2'000;
  const Function each = checkpoint([](const Tensors& x) -> Tensors { return {sin(x[0])}; });
  const Function all = [&](const Tensors& x) {
    Tensors y = x;
    for (int i = 0; i < n; ++i) y = each(y);
    return y;
  };
  const double slope = repeated_sine_slope(1.0, n);
  CHECK(value_of([&] { return value_and_grad(all, {one()}).gradients[0].item<double>(); }) ==
        Approx(slope).epsilon(1e-9));
}
