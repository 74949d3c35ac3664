// SPDX-License-Identifier: Apache-2.0
// A compiled function asks for little memory: every `operator new` of the program is counted, and every
// request to the arena.
#include "engine/compile/compile.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/control.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/counted_memory.hpp"
#include "tests/unit/engine/row.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::row;

namespace {

struct Requests {
  std::int64_t of_heap;
  std::size_t of_arena;
  friend bool operator==(const Requests&, const Requests&) = default;
};

/// Returns the requests of one call, after some that are not counted.
Requests requests_of(const Compiled& f, const Tensors& inputs) {
  const Arena& arena = Arena::of(default_device());
  for (int i = 0; i < 3; ++i) static_cast<void>(f(inputs));
  const std::size_t in_arena = arena.stats().requests;
  const std::int64_t on_heap = tests::n_allocations();
  const Tensors outputs = f(inputs);
  return {tests::n_allocations() - on_heap, arena.stats().requests - in_arena};
}

/// n sines, products and sums along an axis, of numbers with gaps.
Tensor work(const Tensor& x, int n) {
  Tensor y = transpose(x);
  for (int i = 0; i < n; ++i) y = sin(y) * y + expand_dims(sum(y, Axes{1}), -1);
  return y;
}

}  // namespace

TEST_CASE("plan memory: a run asks for its results only, however long it is", "[engine]") {
  const Tensor x = reshape(row({1, 2, 3, 4, 5, 6}), {2, 3}).eval();
  const auto with = [&](int n) {
    return requests_of(compile([n](const Tensors& in) -> Tensors { return {work(in[0], n)}; }), {x});
  };
  const Requests short_one = with(2), long_one = with(200);
  CHECK(long_one == short_one);
  CHECK(long_one.of_arena == 1);
  CHECK(long_one.of_heap == 2);  // the list of results, and the owner of the memory of one
}

TEST_CASE("plan memory: cells take no request where they are assigned", "[engine]") {
  const Variable a("a", row({1, 2})), b("b", row({3, 4})), c("c", row({5, 6}));
  const Compiled f = compile(
      [&](const Tensors& x) -> Tensors {
        a.assign(a.value() * b.value() + x[0]);
        b.assign(sin(b.value()) + c.value());
        return {a.value() + b.value()};
      },
      {.level = Level::O0});  // where each op writes an array of its own
  const Requests requests = requests_of(f, {row({7, 8})});
  CHECK(requests.of_arena == 1);  // the result
  CHECK(requests.of_heap == 2);
}

TEST_CASE("plan memory: a loop that runs often asks for no memory from step to step", "[engine]") {
  const auto requests_of_loop = [](Dim n_steps) {
    const auto step = [](const Tensors& c, const Tensors& x) -> Tensors {
      const Tensor y = sin(c[0] * x[0]) + c[1];
      return {y, c[1] * 0.5 + square(y)};
    };
    const Tensor x = full({n_steps, 8}, 0.5, DType::f64).eval(), c = full({8}, 0.3, DType::f64).eval();
    const Arena& arena = Arena::of(default_device());
    const std::size_t before = arena.stats().requests;
    eval(scan(step, {c, c}, {x}).carry);
    return arena.stats().requests - before;
  };
  static_cast<void>(requests_of_loop(100));
  CHECK(requests_of_loop(1000) == requests_of_loop(100));
}

TEST_CASE("plan memory: the steps of a loop ask for nothing, however many they are", "[engine]") {
  const Compiled f = compile([](const Tensors& in) {
    const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
      const auto twice = [](const Tensors& x) -> Tensors { return {x[0] * 2.0}; };
      const auto half = [](const Tensors& x) -> Tensors { return {x[0] * 0.5}; };
      return cond(greater(sum(carry[0]), 0.0), half, twice, {sin(carry[0]) + now[0]});
    };
    return scan(step, {in[0]}, {in[1]}).carry;
  });
  const auto with = [&](Dim n) { return requests_of(f, {row({1, 2}), ones({n, 2}, DType::f64).eval()}); };
  const Requests of_few = with(2), of_many = with(1000);
  CHECK(of_many == of_few);
  CHECK(of_many.of_arena == 1);
  CHECK(of_many.of_heap == 2);
}
