// SPDX-License-Identifier: Apache-2.0
// Branches, loops and calls in plans: their functions are launches of the plan, with the bits of eager runs.
#include "engine/compile/control_plan.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/subgraph.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/row.hpp"

#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::row;
using tests::same_bits;

namespace {

struct Sampled {
  const char* name;
  Function f;
  Tensors inputs;
};

/// A loop in which a branch in a checkpoint decides on the step; x: [3, 3] and [5, 3, 3].
Tensors branches_in_loop(const Tensors& x) {
  const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    const Tensor next = cond(
        greater(sum(now[0]), 0.0), [](const Tensors& in) -> Tensors { return {sin(in[0]) + in[1]}; },
        [](const Tensors& in) -> Tensors { return {in[0] * in[1]}; }, {carry[0], now[0]})[0];
    const Tensor kept =
        checkpoint([&](const Tensors& in) -> Tensors { return {matmul(in[0], x[0])}; })({next})[0];
    return {transpose(kept) * 0.25, sum(kept, Axes{1})};
  };
  const Scanned all = scan(step, {x[0]}, {x[1]}, Direction::reverse);
  return {all.carry[0], all.ys[0]};
}

/// Carries that change places, one that stays and one that becomes a number; x: [3, 3] and [5, 3, 3].
Tensors carries_in_turn(const Tensors& x) {
  const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    return {carry[1], carry[0] + now[0], carry[2], ones({3}, DType::f64), carry[0], carry[0]};
  };
  const Scanned all = scan(step, {x[0], sin(x[0]), transpose(x[0]), sum(x[0], Axes{0})}, {x[1]});
  return joined({all.carry, all.ys});
}

Tensors loop_in_loop(const Tensors& x) {
  const auto inner = [](const Tensors& carry, const Tensors& now) -> Tensors {
    return {tanh(carry[0] + now[0]), carry[0] * now[0]};
  };
  const auto outer = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    const Scanned one = scan(inner, {carry[0]}, {now[0]});
    return {one.carry[0], one.ys[0]};
  };
  const Scanned all = scan(outer, {sum(x[0], Axes{0})}, {x[1]});
  return {all.carry[0], all.ys[0]};
}

Function slopes_of(const Function& f) {
  return [f](const Tensors& x) {
    const auto loss = [&](const Tensors& at) -> Tensors {
      Tensor all = sum(zeros({1}, DType::f64));
      for (const Tensor& each : f(at)) all = all + sum(sin(each));
      return {all};
    };
    const ValueAndGradients result = value_and_grad(loss, x);
    return joined({Tensors{result.value}, result.gradients});
  };
}

std::vector<Sampled> samples() {
  const Tensors x{drawn({3, 3}, 4), drawn({5, 3, 3}, 5)};
  const Tensors batch{drawn({2, 3, 3}, 6), drawn({2, 5, 3, 3}, 7)};
  std::vector<Sampled> result;
  for (const auto& [name, f] : {std::pair<const char*, Function>{"branches in a loop", branches_in_loop},
                                {"carries in turn", carries_in_turn},
                                {"a loop in a loop", loop_in_loop}}) {
    result.push_back({name, f, x});
    result.push_back({name, slopes_of(f), x});
    result.push_back({name, vmap(f), batch});
    result.push_back({name, slopes_of(vmap(f)), batch});
  }
  return result;
}

std::int64_t n_functions(const Plan& plan) {
  return std::ranges::count_if(plan.lowered().segments,
                               [](const Segment& each) { return each.call.has_value(); });
}

/// A step that mixes two carries and x, all [3, 3], by ops that depend on the seed.
Tensors random_step(std::uint64_t seed, const Tensors& carry, const Tensors& now, const Tensor& captured) {
  std::mt19937_64 random(seed);
  Tensors values{carry[0], carry[1], now[0], captured};
  const auto any = [&]() -> const Tensor& { return values[random() % values.size()]; };
  const std::uint64_t n = 1 + random() % 6;
  for (std::uint64_t i = 0; i < n; ++i) {
    const Tensor a = any(), b = any();
    switch (random() % 7) {
      case 0:
        values.push_back(sin(a));
        break;
      case 1:
        values.push_back(a * b);
        break;
      case 2:
        values.push_back(transpose(a));
        break;
      case 3:
        values.push_back(tanh(matmul(a, b)));
        break;
      case 4:
        values.push_back(a + expand_dims(mean(b, Axes{1}), -1));
        break;
      case 5:
        values.push_back(flip(a, 0));
        break;
      default:
        values.push_back(a - b);
    }
  }
  const Tensor first = any(), second = any();
  return {first, second, any()};
}

}  // namespace

TEST_CASE("control plans: branches, loops and calls have the bits of eager runs", "[engine]") {
  const int n_threads = GENERATE(1, 2, 3);
  const tests::Threads threads(n_threads);
  for (const Sampled& each : samples()) {
    for (const Level level : {Level::O0, Level::O1}) {
      CAPTURE(each.name, n_threads, static_cast<int>(level));
      const auto plan = plan_of(each.f, each.inputs, level);
      CHECK(n_functions(*plan) == 0);
      Tensors others;
      for (const Tensor& x : each.inputs) others.push_back((x * -0.5).eval());
      for (const Tensors& x : {each.inputs, others, each.inputs}) CHECK(same_bits(plan->run(x), each.f(x)));
    }
  }
}

TEST_CASE("control plans: two hundred loops have the bits of loops written out", "[engine]") {
  constexpr Dim n_steps = 4;
  const Tensors x{drawn({3, 3}, 1), drawn({3, 3}, 2), drawn({n_steps, 3, 3}, 3), drawn({3, 3}, 8)};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Function looped = [seed](const Tensors& in) {
      const auto step = [&](const Tensors& carry, const Tensors& now) {
        return random_step(seed, carry, now, in[3]);
      };
      const Scanned all = scan(step, {in[0], in[1]}, {in[2]});
      return joined({all.carry, all.ys});
    };
    Tensors right{x[0], x[1]}, ys;
    for (Dim t = 0; t < n_steps; ++t) {
      const Tensors given =
          without_gaps(random_step(seed, right, {squeeze(slice(x[2], 0, t, t + 1), 0)}, x[3]));
      right = {given[0], given[1]};
      ys.push_back(expand_dims(given[2], 0));
    }
    right.push_back(concatenate(ys, 0));
    for (const Level level : {Level::O0, Level::O1})
      CHECK(same_bits(plan_of(looped, x, level)->run(x), right));
    const Function slopes = slopes_of(looped);
    CHECK(same_bits(plan_of(slopes, x, Level::O1)->run(x), slopes(x)));
  }
}

TEST_CASE("control plans: a loop without steps gives its carry", "[engine]") {
  const auto f = [](const Tensors& x) {
    const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors {
      return {carry[0] + now[0], now[0]};
    };
    const Scanned all = scan(step, {x[0]}, {x[1]});
    return joined({all.carry, all.ys});
  };
  const Tensors x{row({1, 2}), zeros({0, 2}, DType::f64)};
  CHECK(same_bits(plan_of(f, x)->run(x), f(x)));
}

TEST_CASE("control plans: launches are those of all steps, and of the longer branch", "[engine]") {
  const auto loop = [](const Tensors& x) {
    const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors {
      return {sin(carry[0]) + now[0]};
    };
    return scan(step, {x[0]}, {x[1]}).carry;
  };
  const Tensors x{row({1, 2}), drawn({10, 2})};
  CHECK(plan_of(loop, x)->n_launches() == 20);
  CHECK(plan_of(loop, x, Level::O1)->n_launches() == 10);
  const auto branch = [](const Tensors& in) {
    return cond(
        greater(sum(in[0]), 0.0), [](const Tensors& at) -> Tensors { return {sin(at[0])}; },
        [](const Tensors& at) -> Tensors { return {sin(at[0] * at[0]) * 2.0}; }, in);
  };
  CHECK(plan_of(branch, {x[0]})->n_launches() == 2 + 3);
}

TEST_CASE("control plans: a branch takes the memory of the larger function, a step that of its carry",
          "[engine]") {
  constexpr std::size_t n = 1000, of_array = Scratch::aligned(8 * n);
  const Tensor x = drawn({static_cast<Dim>(n)});
  const auto chain = [](int n_ops) {
    return [n_ops](const Tensors& in) -> Tensors {
      Tensor all = sum(in[0]);
      for (int i = 0; i < n_ops; ++i) all = all + sum(cumulative_sum(in[0] * in[0], 0) * in[0]);
      return {all};
    };
  };
  const auto bytes_of = [&](const Function& f) { return plan_of(f, {x})->block_bytes(); };
  const auto branch = [&](int yes, int no) {
    return [=](const Tensors& in) { return cond(greater(sum(in[0]), 0.0), chain(yes), chain(no), in); };
  };
  CHECK(bytes_of(branch(1, 1)) == bytes_of(branch(1, 0)));
  CHECK(bytes_of(branch(1, 0)) >= bytes_of(branch(0, 0)) + of_array);
  const auto loop = [&](bool reads_later) {
    return [=](const Tensors& in) {
      const auto step = [=](const Tensors& carry, const Tensors&) -> Tensors {
        return {reads_later ? flip(carry[0], 0) : sin(carry[0])};
      };
      return scan(step, in, {zeros({5}, DType::f64)}).carry;
    };
  };
  CHECK(bytes_of(loop(true)) == bytes_of(loop(false)) + of_array);
}

TEST_CASE("control plans: equal functions are lowered once", "[engine]") {
  const auto bodies_of = [](const Function& f, const Tensors& x) {
    const auto plan = plan_of(f, x, Level::O1);
    CHECK(same_bits(plan->run(x), f(x)));
    std::set<const Body*> bodies;
    std::int64_t n = 0;
    for (const Launch& each : plan->lowered().launches) {
      if (each.control == nullptr) continue;
      ++n;
      bodies.insert(each.control->bodies()[0].get());
    }
    return std::pair(n, std::ssize(bodies));
  };
  const auto with = [](const std::vector<double>& factors) {
    return [factors](const Tensors& x) -> Tensors {
      Tensor all = x[0];
      for (const double factor : factors) {
        const auto block = [&](const Tensors& in) -> Tensors {
          return {tanh(matmul(in[0], in[1])) * factor};
        };
        all = checkpoint(block)({all, x[1]})[0];
      }
      return {all};
    };
  };
  const Tensors x{drawn({3, 3}, 1), drawn({3, 3}, 2)};
  CHECK(bodies_of(with(std::vector(12, 0.5)), x) == std::pair(std::int64_t{12}, std::ptrdiff_t{1}));
  CHECK(bodies_of(with({0.5, 2.0, 0.5}), x) == std::pair(std::int64_t{3}, std::ptrdiff_t{2}));
}

TEST_CASE("control plans: an error in a function names its line", "[engine]") {
  const auto f = [](const Tensors& x) {
    const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
      return {carry[0] + take(x[0], cast(now[0], DType::i64))};
    };
    return scan(step, {x[0]}, {x[1]}).carry;
  };
  const Tensor zero = (zeros({3, 2}, DType::f64) + 0.0).eval();
  const Tensors good{row({1, 2}), zero}, bad{good[0], (zero + 7.0).eval()};
  const auto plan = plan_of(f, good);
  for (const auto& run : {Function([&](const Tensors& x) { return plan->run(x); }), Function(f)}) {
    CHECK_THAT(error_of<core::InvalidArgument>([&] { eval(run(bad)); }),
               HasId("index_out_of_range", {"(test_control_plans.cpp:"}));
    CHECK(same_bits(run(good), f(good)));
  }
}
