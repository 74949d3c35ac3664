// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

Tensor boolean(bool value) {
  return Tensor::from_bytes(std::as_bytes(std::span(&value, 1)), {{}, DType::b8});
}

/// log x for positive x, 3 x else: the branch not taken would give NaN.
Tensor safe(const Tensor& x, const Tensor& factor) {
  const auto f = [](const Tensors& in) -> Tensors { return {log(in[0])}; };
  const auto g = [&](const Tensors& in) -> Tensors { return {factor * in[0]}; };
  return cond(greater(x, 0.0), f, g, {x})[0];
}

/// x_t + decay · carry, summed up: a filter.
Tensor filtered(const Tensor& decay, const Tensor& x) {
  const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    const Tensor next = tanh(decay * carry[0] + now[0]);
    return {next, next * next};
  };
  const Scanned all = scan(step, {zeros({}, DType::f64)}, {x});
  return sum(all.ys[0]) + all.carry[0];
}

/// Computes the result with a plain loop.
Tensor unrolled(const Tensor& decay, const Tensor& x) {
  Tensor carry = zeros({}, DType::f64), total = carry;
  for (Dim t = 0; t < x.dim(0); ++t) {
    carry = tanh(decay * carry + squeeze(slice(x, 0, t, t + 1), 0));
    total = total + carry * carry;
  }
  return total + carry;
}

}  // namespace

TEST_CASE("tuple: an element of a tuple just made is the tensor that went in", "[engine]") {
  const Tensor a = row({1, 2}), b = a + 1.0;
  CHECK(get(tuple({a, b}), 1).node_pointer() == b.node_pointer());
  const Tensor pair = tuple({a, b});
  pair.eval();
  CHECK(get(pair, 1).to_vector<double>() == std::vector<double>{2, 3});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(get(pair, 2)); }),
             HasId("no_such_element", {"2"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(pair + 1.0); }),
             HasId("not_an_array", {"[add]", "input 0", "tuple"}));
}

TEST_CASE("cond: runs and differentiates the branch that is taken, what the branches captured included",
          "[engine]") {
  const Tensor factor = scalar(3.0, DType::f64);
  const auto slope = [&](double x) {
    return grad([&](const Tensor& at) { return safe(at, factor); })(scalar(x, DType::f64)).item<double>();
  };
  CHECK(slope(4.0) == 0.25);
  CHECK(slope(-4.0) == 3.0);
  const auto of_factor = grad([&](const Tensor& k) { return safe(scalar(-2.0, DType::f64), k); });
  CHECK(of_factor(factor).item<double>() == -2.0);
}

TEST_CASE("cond: under vmap each item takes its own branch", "[engine]") {
  const auto f = [](const Tensor& x) { return safe(x, scalar(3.0, DType::f64)); };
  const Tensor values = vmap(f)(row({1, -2, std::exp(1.0)}));
  CHECK(values.to_vector<double>()[1] == -6.0);
  CHECK(values.to_vector<double>()[2] == Approx(1.0));
  const Tensor both = vmap([](const Tensor& x) {
    return cond(
        boolean(true), [](const Tensors& in) -> Tensors { return {square(in[0])}; },
        [](const Tensors& in) -> Tensors { return {in[0]}; }, {x})[0];
  })(row({2, 3}));
  CHECK(both.to_vector<double>() == std::vector<double>{4, 9});
}

TEST_CASE("cond: an external map inside runs only in the branch that is taken, and when recorded",
          "[engine]") {
  int n_calls = 0;
  const core::MapPtr map = core::pointwise(
      "counted", 2, [&](double t) { return ++n_calls, 2.0 * t; }, [](double) { return 2.0; });
  const auto f = [&](const Tensors& x) -> Tensors { return {external(map, x[0])}; };
  const auto g = [](const Tensors& x) -> Tensors { return {x[0]}; };
  static_cast<void>(cond(boolean(false), f, g, {row({1, 2})}));
  CHECK(n_calls == 0);
  const Tensor y = cond(boolean(true), f, g, {row({1, 2})})[0];
  CHECK(n_calls > 0);
  CHECK(y.to_vector<double>() == std::vector<double>{2, 4});
}

TEST_CASE("scan: value, gradient, second derivative and batches are those of the loop written out",
          "[engine]") {
  const Tensor decay = scalar(0.7, DType::f64), x = row({0.3, -0.2, 0.5, 0.1, -0.4});
  CHECK(filtered(decay, x).item<double>() == Approx(unrolled(decay, x).item<double>()).epsilon(1e-14));
  const auto gradients = [&](auto f) { return value_and_grad(as_function(f), {decay, x}).gradients; };
  const Tensors by_scan = gradients(filtered), by_loop = gradients(unrolled);
  CHECK(by_scan[0].item<double>() == Approx(by_loop[0].item<double>()).epsilon(1e-13));
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(by_scan[1].to_vector<double>()[i] == Approx(by_loop[1].to_vector<double>()[i]).epsilon(1e-13));
  const auto curvature = [&](auto f) {
    return hessian_product([&](const Tensor& at) { return f(decay, at); }, x, row({1, 0, -1, 0, 2}))
        .template to_vector<double>();
  };
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(curvature(filtered)[i] == Approx(curvature(unrolled)[i]).epsilon(1e-12));
  const Tensor table = concatenate(Tensors{expand_dims(x, 0), expand_dims(2.0 * x, 0)}, 0);
  const Tensor batch = vmap([&](const Tensor& each) { return filtered(decay, each); })(table);
  CHECK(batch.to_vector<double>()[1] == Approx(filtered(decay, 2.0 * x).item<double>()).epsilon(1e-14));
}

TEST_CASE("scan: steps of a plan give the bits of steps op by op, whatever carry and y share", "[engine]") {
  const std::vector<std::function<Tensors(const Tensors&, const Tensors&)>> steps{
      [](const Tensors& c, const Tensors& x) -> Tensors {
        return {sin(c[0] + x[0]), c[1] * x[0], c[0]};
      },
      [](const Tensors& c, const Tensors& x) -> Tensors {
        return {c[1], c[0], x[0]};
      },
      [](const Tensors& c, const Tensors& x) -> Tensors {
        const Tensor next = transpose(reshape(c[0], {2, 3}));
        return {reshape(next * 1.5, {6}), reshape(transpose(reshape(c[1], {2, 3})), {6}), x[0], next};
      },
      [](const Tensors& c, const Tensors& x) -> Tensors {
        const Tensor next = c[0] * x[0];
        return {next, next, zeros_like(next), next};
      },
  };
  const Tensor c = row({1, 2, 3, 4, 5, 6});
  for (const auto& step : steps) {
    const auto run = [&](Dim n_steps) {
      const Tensor x =
          cos(broadcast_to(reshape(cast(iota(n_steps), DType::f64), {n_steps, 1}), {n_steps, 6}));
      const auto [carry, ys] = scan(step, {c, c * 0.5}, {x});
      Tensors all = carry;
      all.insert(all.end(), ys.begin(), ys.end());
      return all;
    };
    for (const Dim n_steps : {40, 200}) {
      const Tensors by_plan = run(n_steps);
      eval(by_plan);
      Tensors op_by_op;
      const ExecutionObserver observer([](const Node&) {});  // so that every op runs alone
      op_by_op = run(n_steps);
      eval(op_by_op);
      CHECK(tests::same_bits(by_plan, op_by_op));
    }
  }
  CHECK(c.to_vector<double>() == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("scan: reverse goes from the last to the first, no steps give the carry", "[engine]") {
  const auto step = [](const Tensors& carry, const Tensors& x) -> Tensors {
    return {2.0 * carry[0] + x[0], carry[0]};
  };
  const Scanned all = scan(step, {scalar(0.0, DType::f64)}, {row({1, 2, 3})}, Direction::reverse);
  CHECK(all.carry[0].item<double>() == 17.0);
  CHECK(all.ys[0].to_vector<double>() == std::vector<double>{8, 3, 0});
  const Scanned none = scan(step, {scalar(5.0, DType::f64)}, {zeros({0}, DType::f64)});
  CHECK(none.carry[0].item<double>() == 5.0);
  CHECK(none.ys[0].shape() == Shape{0});
}

TEST_CASE("scan: a long loop keeps one carry per step for its gradient, not what the steps computed",
          "[engine]") {
  const Dim n = 4000, n_steps = 50;
  const auto step = [](const Tensors& carry, const Tensors& x) -> Tensors {
    Tensor y = carry[0];
    for (int i = 0; i < 10; ++i) y = sin(y) + x[0];
    return {y};
  };
  const Tensor start = (full({n}, 0.2, DType::f64) + 0.0).eval(),
               xs = row(std::vector<double>(static_cast<std::size_t>(n_steps), 0.1));
  Arena& arena = Arena::of(cpu);
  const std::size_t before = arena.stats().in_use;
  arena.reset_peak();
  grad([&](const Tensor& c) { return sum(scan(step, {c}, {xs}).carry[0]); })(start).eval();
  const std::size_t one = static_cast<std::size_t>(n) * sizeof(double);
  CHECK(arena.stats().peak - before < 90 * one);  // 500 intermediates
}

TEST_CASE("control: numbers that are not finite are found where they appear, inside the branch", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors { return {log(x[0]) + 1.0}; };
  const auto g = [](const Tensors& x) -> Tensors { return {x[0] + 2.0}; };
  const auto origin = [&](bool which) {
    return first_not_finite([&] { cond(boolean(which), f, g, {row({0, 1})})[0].eval(); });
  };
  CHECK_FALSE(origin(false));
  CHECK_THAT(origin(true).value(), Catch::Contains("log of f64[2]") && Catch::Contains("from finite inputs"));
}

TEST_CASE("control: errors name both shapes and the line", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors { return {x[0]}; };
  const auto g = [](const Tensors& x) -> Tensors { return {sum(x[0])}; };
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(cond(boolean(true), f, g, {row({1, 2})}));
             }),
             HasId("branches_differ", {"f64[2]", "f64[]", "(test_control.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(cond(row({1}), f, f, {row({1})})); }),
             HasId("wrong_dtype", {"[cond]", "b8", "f64[1]"}));
  const auto grows = [](const Tensors& carry, const Tensors&) -> Tensors {
    return {concatenate(Tensors{carry[0], carry[0]}, 0)};
  };
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(scan(grows, {row({1})}, {row({1, 2})}));
             }),
             HasId("carry_changes", {"carry 0", "f64[1]", "f64[2]", "(test_control.cpp:"}));
  const auto same = [](const Tensors& carry, const Tensors&) { return carry; };
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(scan(same, {row({1})}, {row({1, 2}), row({1})}));
             }),
             HasId("unequal_steps", {"axis 0", "f64[2]", "f64[1]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(scan(same, {row({1})}, {})); }),
             HasId("no_steps"));
  const auto looking = [](const Tensors& carry, const Tensors&) -> Tensors {
    return {carry[0].data<double>()[0] > 0.0 ? carry[0] : -carry[0]};
  };
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(scan(looking, {row({1})}, {row({1})})); }),
      HasId("no_values_while_tracing", {"f64[1]", "scan", "select", "(test_control.cpp:"}));
}

TEST_CASE("control: a branch that reads a value is refused with the line and what to use instead",
          "[engine]") {
  const Function reads = [](const Tensors& in) -> Tensors {
    return {in[0].to_vector<double>()[0] > 0.5 ? in[0] : -in[0]};
  };
  const Function item = [](const Tensors& in) -> Tensors { return {in[0] * sum(in[0]).item<double>()}; };
  const Function same = [](const Tensors& in) { return in; };
  for (const auto& [yes, no] : {std::pair{reads, same}, std::pair{same, item}}) {
    const auto f = [&yes = yes, &no = no](const Tensors& in) {
      return cond(greater(sum(in[0]), 0.0), yes, no, in);
    };
    const HasId refused("no_values_while_tracing", {"select", "cond", "(test_control.cpp:"});
    CHECK_THAT(error_of<core::InvalidArgument>([&] { f({row({1, 2})}); }), refused);
    const Compiled compiled = compile(f, {.breaks = Breaks::refused});
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(compiled({row({1, 2})})); }), refused);
  }
}
