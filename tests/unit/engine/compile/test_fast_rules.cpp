// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/compile/rewrite.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <random>

using namespace lodestone;
using namespace lodestone::engine;
using tests::same_bits;

namespace {

using Exact = long double;
struct Case {
  std::string_view liberty;
  std::function<Tensor(const Tensor& x)> f;
  std::function<Exact(Exact x)> exact;
  double bound;  ///< largest relative error, in units of half the distance from 1 to the next number
};

/// Returns the number that a literal becomes in a dtype.
template <class T>
Exact as(double literal) {
  return static_cast<T>(literal);
}

template <class T>
std::vector<Case> cases() {
  using X = const Tensor&;
  std::vector<Case> result{
      {"x + 0", [](X x) { return x * 2.0 + 0.0; }, [](Exact x) { return 2 * x; }, 0},
      {"small power", [](X x) { return power(x, 2.0); }, [](Exact x) { return x * x; }, 1},
      {"small power", [](X x) { return power(x, 3.0); }, [](Exact x) { return x * x * x; }, 2},
      {"small power", [](X x) { return power(x, 4.0); }, [](Exact x) { return x * x * x * x; }, 3}};
  for (const double c : {3.0, 0.1, -7e5, 1e-12}) {
    result.push_back({"x / c", [c](X x) { return x / c; }, [c](Exact x) { return x / as<T>(c); }, 2});
    result.push_back({"scaled twice", [c](X x) { return c * (x * 0.3); },
                      [c](Exact x) { return x * as<T>(c) * as<T>(0.3); }, 2});
  }
  return result;
}

/// Draws numbers of both signs between 1e-3 and 1e3.
template <class T>
std::vector<T> drawn() {
  std::mt19937_64 random(11);
  std::vector<T> x(100'000);
  for (T& each : x) {
    const double size = std::pow(10.0, static_cast<double>(random() >> 11) * 0x1p-53 * 6.0 - 3.0);
    each = static_cast<T>(random() % 2 == 0 ? size : -size);
  }
  return x;
}

template <class T>
void check_bounds() {
  const std::vector<T> x = drawn<T>();
  const Tensors inputs{Tensor::from(x, {static_cast<Dim>(x.size())})};
  const Exact unit = static_cast<Exact>(std::numeric_limits<T>::epsilon()) / 2;
  for (const Case& each : cases<T>()) {
    const Compiled fast = compile([&](const Tensors& in) -> Tensors { return {each.f(in[0])}; },
                                  {.exactness = Exactness::fast});
    const std::vector<T> given = fast(inputs)[0].template to_vector<T>();
    INFO(each.liberty << " of " << core::name_of(core::dtype_of<T>));
    REQUIRE(fast.stats().liberties.size() == 1);
    CHECK(fast.stats().liberties[0].name == each.liberty);
    CHECK(fast.stats().liberties[0].n == 1);
    Exact largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Exact right = each.exact(x[i]);
      largest = std::max(largest, std::abs((given[i] - right) / right));
    }
    CHECK(largest <= unit * static_cast<Exact>(each.bound) * 1.0001L);
    CHECK(largest >= (each.bound > 0.0 ? unit / 2 : 0));  // it was not computed in a wider type
  }
}

}  // namespace

TEST_CASE("fast mode: the error of each liberty has its bound", "[engine]") {
  check_bounds<float>();
  check_bounds<double>();
}

TEST_CASE("fast mode: what is not finite stays so, and zeros keep their sign", "[engine]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = Tensor::from(std::vector{0.0, -0.0, infinity, -infinity, std::nan("")}, {5});
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor& at = in[0];
    return {at / 3.0, at / -0.1, -7.0 * (at * 0.3), power(at, 2.0), power(at, 3.0)};
  };
  const Compiled fast = compile(f, {.exactness = Exactness::fast});
  CHECK(same_bits(fast({x}), f({x})));
  CHECK(fast.stats().liberties.size() == 3);
}

TEST_CASE("fast mode: a product that overflows on the way stays infinite", "[engine]") {
  const Tensor x = Tensor::from(std::vector{1e300, -1e300, 1e-300, 2.0}, {4});
  for (const auto& [inner, outer, n] :
       {std::tuple{1e10, 1e-10, 0}, std::tuple{-1e10, 0.5, 0}, std::tuple{2.0, 3.0, 1},
        std::tuple{1e-10, 1e10, 1}, std::tuple{0.5, 0.5, 1}}) {
    INFO(outer << " (" << inner << " x)");
    const auto twice = [a = inner, b = outer](const Tensors& in) -> Tensors { return {b * (a * in[0])}; };
    const Compiled fast = compile(twice, {.exactness = Exactness::fast});
    const auto given = fast({x})[0].to_vector<double>(), strict = twice({x})[0].to_vector<double>();
    CHECK(std::ssize(fast.stats().liberties) == n);
    for (std::size_t i = 0; i < given.size(); ++i) CHECK(std::isinf(given[i]) == std::isinf(strict[i]));
  }
}

TEST_CASE("fast mode: ops whose bound would not hold stay", "[engine]") {
  const auto liberties = [](const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = full({4, 4}, 0.7, DType::f64);
    const Compiled fast =
        compile([&](const Tensors& in) -> Tensors { return {f(in[0])}; }, {.exactness = Exactness::fast});
    fast({x});
    return fast.stats().liberties.size();
  };
  CHECK(liberties([](const Tensor& x) { return x / 3.0; }) == 1);
  for (const double c : {0.0, 3e-310, 1.7e308, std::numeric_limits<double>::infinity()})
    CHECK(liberties([&](const Tensor& x) { return x / c; }) == 0);
  CHECK(liberties([](const Tensor& x) { return x * 1e-200 * 1e-200; }) == 0);
  CHECK(liberties([](const Tensor& x) { return power(x, 2.5); }) == 0);
  CHECK(liberties([](const Tensor& x) { return power(x, -2.0); }) == 0);
  CHECK(liberties([](const Tensor& x) { return x / slice(x, 1, 0, 1); }) == 0);
  CHECK(liberties([](const Tensor& x) { return x + 1e-300; }) == 0);
}

TEST_CASE("fast mode: liberties are taken where that is asked for, and are told", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors { return {in[0] / 3.0 + exp(in[0] / 7.0)}; };
  const Tensors inputs{full({100}, 0.7, DType::f64)};
  const Compiled strict = compile(f), fast = compile(f, {.exactness = Exactness::fast}),
                 on_0 = compile(f, {.level = Level::O0, .exactness = Exactness::fast});
  CHECK(same_bits(strict(inputs), f(inputs)));
  CHECK(strict.stats().liberties.empty());
  CHECK(same_bits(fast(inputs), on_0(inputs)));
  for (const Compiled& each : {fast, on_0}) {
    REQUIRE(each.stats().liberties.size() == 1);
    CHECK(each.stats().liberties[0].n == 2);
    CHECK(each.text(Stage::recorded) == strict.text(Stage::recorded));
    CHECK(each.text(Stage::rewritten).find("divide") == std::string::npos);
  }
  CHECK(strict.text(Stage::rewritten).find("divide") != std::string::npos);
}
