// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/host_state.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/custom.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
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

constexpr Dim size = 20000;
constexpr std::size_t bytes = size * sizeof(double);

/// Six steps whose derivatives need what they computed.
Tensors block(const Tensors& x) {
  Tensor y = x[0];
  for (int i = 0; i < 3; ++i) y = sin(y) * 1.1 + checkpoint_name(tanh(y), "tanh");
  return {y};
}

struct Measured {
  Tensor gradient;
  std::size_t peak;
};

/// The gradient through eight blocks, and what the arena held at most for it.
Measured through(const Function& each_block) {
  const Tensor x = (full({size}, 0.3, DType::f64) + 0.0).eval();
  Arena& arena = Arena::of(default_device());
  const std::size_t before = arena.stats().in_use;
  arena.reset_peak();
  const Tensor gradient = grad([&](const Tensor& at) {
    Tensors y{at};
    for (int i = 0; i < 8; ++i) y = each_block(y);
    return sum(y[0]);
  })(x);
  gradient.eval();
  return {gradient, arena.stats().peak - before};
}

}  // namespace

TEST_CASE("checkpoint: may be the op at which all that is pending is run", "[engine]") {
  const Tensor x = full({}, 1.0, DType::f64).eval();
  const Function each = checkpoint([](const Tensors& in) -> Tensors { return {2.0 * in[0]}; });
  for (int n = most_pending - 4; n < most_pending + 2; ++n) {
    Tensor y = negative(negative(x)).eval();  // nothing is pending now
    for (int i = 0; i < n; ++i) y = negative(y);
    CHECK(each({y})[0].item<double>() == (n % 2 == 0 ? 2.0 : -2.0));
  }
}

TEST_CASE(
    "checkpoint: the gradient stays bitwise the same, the memory is that of one block and the ends of the "
    "others",
    "[engine]") {
  const Measured plain = through(block), lean = through(checkpoint(block)),
                 named = through(checkpoint(block, {"tanh"}));
  CHECK(plain.gradient.to_vector<double>() == lean.gradient.to_vector<double>());
  CHECK(plain.gradient.to_vector<double>() == named.gradient.to_vector<double>());
  INFO("peaks " << static_cast<double>(plain.peak) / bytes << ", " << static_cast<double>(lean.peak) / bytes
                << ", " << static_cast<double>(named.peak) / bytes);
  CHECK(plain.peak > 48 * bytes);
  CHECK(lean.peak < 24 * bytes);
  CHECK(named.peak < plain.peak);
  CHECK(named.peak > lean.peak);
}

TEST_CASE("checkpoint: what was kept by name is not computed again", "[engine]") {
  int n_values = 0;
  const core::MapPtr map = core::pointwise(
      "exp", 1, [&](double t) { return ++n_values, std::exp(t); }, [](double t) { return std::exp(t); });
  const auto f = [&](const Tensors& x) -> Tensors {
    return {square(checkpoint_name(external(map, x[0]), "e"))};
  };
  const auto slope = [&](const Function& g) {
    n_values = 0;
    return grad([&](const Tensor& x) { return sum(g({x})[0]); })(row({1})).item<double>();
  };
  CHECK(slope(checkpoint(f)) == Approx(2.0 * std::exp(2.0)));
  CHECK(n_values == 3);  // forward, again for the slope of the square, and for the linearization
  CHECK(slope(checkpoint(f, {"e"})) == Approx(2.0 * std::exp(2.0)));
  CHECK(n_values == 2);
}

TEST_CASE("checkpoint: derivatives of every order, batches, and what the function captured", "[engine]") {
  const Variable scale("scale", row({2, 3}));
  const auto cube = [&](const Tensors& x) -> Tensors { return {x[0] * x[0] * x[0] * scale.value()}; };
  const auto f = [&](const Tensor& x) { return sum(checkpoint(cube)({x})[0]); };
  CHECK(hessian_product(f, row({1, 2}), row({1, 1})).to_vector<double>() == std::vector<double>{12, 36});
  const auto [value, gradients] = value_and_grad([&] { return f(row({1, 2})); }, Variables{scale});
  CHECK(value.item<double>() == 26.0);
  CHECK(gradients[0].to_vector<double>() == std::vector<double>{1, 8});
  CHECK(vmap(f)(reshape(row({1, 2, 1, 1}), {2, 2})).to_vector<double>() == std::vector<double>{26, 5});
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(checkpoint(cube, {"nothing"})({row({1, 2})}));
             }),
             HasId("unknown_mark", {"\"nothing\""}));
}

TEST_CASE("checkpoint: calls that are equal record and differentiate the function once", "[engine]") {
  int n_calls = 0, n_slopes = 0;
  CustomRules rules{"cube"};
  rules.vjp = [&](const Tensors& x, const Tensors&, const Tensors& w) -> Tensors {
    ++n_slopes;
    return {3.0 * x[0] * x[0] * w[0]};
  };
  const Function cube = custom([](const Tensors& x) -> Tensors { return {x[0] * x[0] * x[0]}; }, rules);
  const Function f = [&](const Tensors& x) -> Tensors {
    ++n_calls;
    return {cube({sin(x[0])})[0] + x[0]};
  };
  const auto gradient_of = [&](Calls calls) {
    const Function each = checkpoint(f, {}, calls);
    const auto loss = [&](const Tensor& x) {
      Tensors y{x};
      for (int i = 0; i < 5; ++i) y = each(y);
      return sum(y[0]) + sum(each({reshape(x, {3, 1})})[0]);
    };
    return grad(loss)(row({0.1, -0.4, 2})).to_vector<double>();
  };
  const std::vector<double> right = gradient_of(Calls::may_differ);
  CHECK(n_calls == 6);
  CHECK(n_slopes == 6);
  n_calls = n_slopes = 0;
  CHECK(gradient_of(Calls::are_equal) == right);
  CHECK(n_calls == 2);  // once per shape
  CHECK(n_slopes == 2);
}

TEST_CASE("checkpoint: equal calls call the function again for what it captured of the whole", "[engine]") {
  int n_calls = 0;
  const auto f = [&](const Tensor& x) {
    const auto times_x = [&](const Tensors& in) -> Tensors {
      ++n_calls;
      return {in[0] * x};
    };
    const Function each = checkpoint(times_x, {}, Calls::are_equal);
    return sum(each(each({x}))[0]);
  };
  CHECK(grad(f)(row({2, -1})).to_vector<double>() == std::vector<double>{12, 3});
  CHECK(n_calls == 2);
}

TEST_CASE("checkpoint: equal calls read and assign cells, and follow the mode of modules", "[engine]") {
  const Variable scale("scale", row({2, 3}));
  int n_calls = 0, choice = 0;
  const Function each = checkpoint(
      [&](const Tensors& x) -> Tensors {
        ++n_calls;
        HostStateScope::note(&choice, [&] { return choice; });
        scale.assign(scale.value() + 1.0);
        return {choice == 0 ? x[0] * scale.value() : x[0] - scale.value()};
      },
      {}, Calls::are_equal);
  const Tensor x = row({10, 10});
  CHECK(each({x})[0].to_vector<double>() == std::vector<double>{30, 40});
  CHECK(each({x})[0].to_vector<double>() == std::vector<double>{40, 50});
  CHECK(n_calls == 1);
  choice = 1;
  CHECK(each({x})[0].to_vector<double>() == std::vector<double>{5, 4});
  CHECK(n_calls == 2);
  const HostStateScope host;
  CHECK(each({x})[0].to_vector<double>() == std::vector<double>{4, 3});
  CHECK(n_calls == 2);
  REQUIRE(host.choices().size() == 1);  // whoever keeps what called it asks for the same
  CHECK(host.choices()[0].then == 1);
}

TEST_CASE("custom: the rules are used, forward, in reverse, batched and differentiated again", "[engine]") {
  CustomRules rules{"stable_root"};
  rules.jvp = [](const Tensors&, const Tensors& y, const Tensors& dx) -> Tensors {
    return {dx[0] / (2.0 * y[0])};
  };
  rules.vjp = [](const Tensors&, const Tensors& y, const Tensors& w) -> Tensors {
    return {3.0 * w[0] / (2.0 * y[0])};
  };  // on purpose 3 times too large
  const Function root = custom([](const Tensors& x) -> Tensors { return {sqrt(x[0])}; }, rules);
  const auto f = [&](const Tensor& x) { return sum(root({x})[0]); };
  CHECK(linearize(root, {row({4, 16})}).jvp({row({1, 1})})[0].to_vector<double>() ==
        std::vector<double>{0.25, 0.125});
  CHECK(grad(f)(row({4, 16})).to_vector<double>() == std::vector<double>{0.75, 0.375});
  CHECK(
      vmap([&](const Tensor& x) { return grad(f)(x); })(reshape(row({4, 16}), {2, 1})).to_vector<double>() ==
      std::vector<double>{0.75, 0.375});
  CHECK(hessian_product(f, row({4}), row({1})).to_vector<double>()[0] == Approx(-1.5 * 0.25 / 4.0));
}

TEST_CASE("custom: the derivative of a batch of batches uses the rules on each item", "[engine]") {
  const Function plain = [](const Tensors& x) -> Tensors { return {x[0] * sum(x[0])}; };
  CustomRules rules{"share"};
  rules.jvp = [](const Tensors& x, const Tensors&, const Tensors& dx) -> Tensors {
    return {dx[0] * sum(x[0]) + x[0] * sum(dx[0])};
  };
  rules.vjp = [](const Tensors& x, const Tensors&, const Tensors& w) -> Tensors {
    return {w[0] * sum(x[0]) + sum(w[0] * x[0])};
  };
  const Tensor x = reshape(linspace(0.1, 2.4, 24, DType::f64), {2, 3, 4});
  const Linearized by_rules = linearize(vmap(vmap(custom(plain, rules))), {x}),
                   by_ops = linearize(vmap(vmap(plain)), {x});
  const Tensor along = cos(x);
  const auto forward = by_rules.jvp({along})[0].to_vector<double>(),
             forward_by_ops = by_ops.jvp({along})[0].to_vector<double>(),
             back = by_rules.vjp({along})[0].to_vector<double>(),
             back_by_ops = by_ops.vjp({along})[0].to_vector<double>();
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(forward[i] == Approx(forward_by_ops[i]).epsilon(1e-13));
    CHECK(back[i] == Approx(back_by_ops[i]).epsilon(1e-13));
  }
}

TEST_CASE("custom: errors name the function and the rule", "[engine]") {
  const Tensor x = row({4});
  const auto plain = [](const Tensors& at) -> Tensors { return {sqrt(at[0])}; };
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] {
        static_cast<void>(grad([&](const Tensor& at) { return sum(custom(plain, {"root"})({at})[0]); })(x));
      }),
      HasId("no_rule", {"[custom]", "root", "vjp"}));
  CustomRules rules{"root"};
  rules.vjp = [](const Tensors&, const Tensors&, const Tensors& w) -> Tensors { return {sum(w[0])}; };
  CHECK_THAT(
      error_of<core::ShapeError>([&] {
        static_cast<void>(grad([&](const Tensor& at) { return sum(custom(plain, rules)({at})[0]); })(x));
      }),
      HasId("wrong_rule_results", {"root", "f64[1]", "vjp", "f64[]"}));
  const auto capturing = [&](const Tensor& at) {
    return sum(custom([&](const Tensors& y) -> Tensors { return {y[0] * at}; }, rules)({row({1})})[0]);
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(grad(capturing)(x)); }),
             HasId("derivative_of_captured", {"root"}));
}
