// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_functions.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::row;
using tests::same_bits;

namespace {

/// Returns the number of kernels that an eager run of the same ops calls; -1 if functions run.
std::int64_t kernels_of(const Trace& trace, const Tensors& inputs) {
  std::int64_t n_kernels = 0;
  bool has_functions = false;
  const ExecutionObserver observer([&](const Node& node) {
    has_functions = has_functions || node.op->run;
    n_kernels += node.op->run || is_view(node) ? 0 : 1;
  });
  eval(trace.values(inputs));
  return has_functions ? -1 : n_kernels;
}

Tensor counted(const Shape& shape, double scale = 1.0) {
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(scale * static_cast<double>(i + 1));
  return Tensor::from(values, shape);
}

}  // namespace

TEST_CASE("plan: the samples of all rows give the bits of eager runs, with as many kernels", "[engine]") {
  std::int64_t n_counted = 0, n_plans = 0;
  tests::for_each_sample_function(4, [&](const tests::SampleFunction& sample) {
    INFO(sample.name);
    const Trace trace = sample.trace();
    const auto plan = plan_of(trace, sample.inputs);
    const Tensors right = sample.f(sample.inputs);
    CHECK(same_bits(plan->run(sample.inputs), right));
    CHECK(same_bits(plan->run(sample.inputs), right));  // in the block that the first run has left
    ++n_plans;
    const std::int64_t n_kernels = kernels_of(trace, sample.inputs);
    if (n_kernels < 0) return;
    CHECK(plan->n_launches() - plan->n_copies() == n_kernels);
    ++n_counted;
  });
  CHECK(n_plans > 2000);
  CHECK(n_counted > 1000);
}

TEST_CASE("plan: a gradient through layers gives the bits of the eager run", "[engine]") {
  const auto loss = [](const Tensors& in) -> Tensors {
    const Tensor hidden = engine::tanh(matmul(in[0], in[1]) + in[2]);
    const Tensor out = softmax(matmul(hidden, transpose(in[1])));
    return {sum(square(out - in[0])) + sum(max(hidden, Axes{0}))};
  };
  const auto step = [&](const Tensors& in) {
    ValueAndGradients result = value_and_grad(loss, in);
    result.gradients.push_back(result.value);
    return result.gradients;
  };
  const Tensors inputs{counted({5, 4}), counted({4, 3}, 0.3), counted({3}, 2.0)};
  const auto plan = plan_of(step, inputs);
  CHECK(same_bits(plan->run(inputs), step(inputs)));
  const Tensors others{counted({5, 4}, 0.7), counted({4, 3}, 1.3), counted({3}, 0.1)};
  CHECK(same_bits(plan->run(others), step(others)));
}

TEST_CASE("plan: steps of thirty networks give the bits of eager runs in blocks that waste nothing",
          "[engine]") {
  const int before = core::threads();
  std::int64_t n_packed = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::vector<tests::SampleNetwork> networks = tests::SampleNetworks(dtype).all();
    CHECK(networks.size() == 30);
    for (const tests::SampleNetwork& each : networks) {
      const Tensors right = each.f(each.inputs);
      for (const Level level : {Level::O0, Level::O1}) {
        for (const int n_threads : {1, 3, 5}) {
          core::set_threads(n_threads);
          INFO(each.name << " " << core::name_of(dtype) << " on level " << static_cast<int>(level) << ", "
                         << n_threads << " threads");
          const auto plan = plan_of(each.f, each.inputs, level);
          for (int run = 0; run < (n_threads == 1 ? 3 : 0); ++run)  // weights are packed by the second
            CHECK(same_bits(plan->run(each.inputs), right));
          n_packed += plan->n_packed();
          for (const Block& block : plan->lowered().blocks)
            CHECK(static_cast<double>(block.bytes) <= 1.02 * static_cast<double>(block.most_alive));
        }
      }
    }
  }
  CHECK(n_packed > 50);
  core::set_threads(before);
}

TEST_CASE("plan: inputs with gaps, shifted inputs and views among the outputs", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors {
    const Tensor turned = transpose(x[0]);
    return {sum(turned, Axes{0}) + sum(slice(turned, 0, 1, 2)), turned, slice(x[0] * 2.0, 0, 1, 2), x[0],
            slice(turned, 0, 1, 2)};
  };
  const Tensor whole = counted({4, 6});
  const Tensor part = slice(transpose(whole), 0, 2, 5).eval();  // [3, 4], with gaps, not from the start
  const auto plan = plan_of(f, {part});
  const Tensors given = plan->run(Tensors{part});
  CHECK(same_bits(given, f({part})));
  CHECK(given[3].node_pointer() == part.node_pointer());
  CHECK(given[1].node().buffer == part.node().buffer);
  const Tensor other = slice(transpose(counted({4, 6}, 0.5)), 0, 1, 4).eval();
  CHECK(same_bits(plan->run(Tensors{other}), f({other})));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(plan->run(Tensors{counted({3, 4})}));
             }),
             HasId("wrong_input", {"f64[3, 4]", "[1, 6]", "[4, 1]"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(plan->run(Tensors{part, part}));
             }),
             HasId("wrong_input_count", {"1", "2"}));
}

TEST_CASE("plan: an array is written in place of an operand that nobody needs any more", "[engine]") {
  const Tensor x = counted({8});
  const auto chain = [](const Tensors& in) -> Tensors {
    Tensor y = in[0];
    for (int i = 0; i < 10; ++i) y = y + in[0];
    return {y};
  };
  const auto plan = plan_of(chain, {x});
  CHECK(plan->n_launches() == 10);
  CHECK(plan->block_bytes() == 64);
  CHECK(same_bits(plan->run(Tensors{x}), chain({x})));
  // Not where the operand is used later, nor where another operand looks at it otherwise.
  const auto used_later = [](const Tensors& in) -> Tensors {
    const Tensor a = in[0] + 1.0, b = a * 2.0, c = b - a;
    return {c * c};
  };
  CHECK(plan_of(used_later, {x})->block_bytes() == 128);
  const auto seen_twice = [](const Tensors& in) -> Tensors {
    const Tensor a = in[0] + 1.0;
    return {engine::exp(a * flip(a, 0))};
  };
  const auto twice = plan_of(seen_twice, {x});
  CHECK(same_bits(twice->run(Tensors{x}), seen_twice({x})));
}

TEST_CASE("plan: results have memory of their own, which later runs leave alone", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors { return {x[0] * x[0], x[0] + 1.0}; };
  const auto plan = plan_of(f, {row({1, 2})});
  const Tensors first = plan->run(Tensors{row({1, 2})});
  const Tensors second = plan->run(Tensors{row({3, 4})});
  CHECK(first[0].to_vector<double>() == std::vector<double>{1, 4});
  CHECK(first[1].to_vector<double>() == std::vector<double>{2, 3});
  CHECK(second[0].to_vector<double>() == std::vector<double>{9, 16});
}

TEST_CASE("plan: functions among kernels run in their order", "[engine]") {
  std::string taken;
  const auto twice = [&](const std::string& name) {
    return core::pointwise(
        name, 2, [&taken, name](double t) { return taken += name, 2.0 * t; }, [](double) { return 2.0; });
  };
  const auto f = [a = twice("a"), b = twice("b")](const Tensors& x) -> Tensors {
    const Tensor first = external(a, x[0] * 3.0);
    static_cast<void>(external(b, x[0]));
    const Tensors both = cond(
        greater(sum(first), 0.0), [](const Tensors& in) -> Tensors { return {in[0] - 1.0}; },
        [](const Tensors& in) -> Tensors { return {in[0] + 1.0}; }, {first});
    return {sin(both[0]) + first};
  };
  const auto plan = plan_of(f, {row({1, 2})});
  for (const double sign : {1.0, -1.0}) {
    const Tensor x = row({sign, 2.0 * sign});
    taken.clear();
    const Tensors right = f({x});
    CHECK(std::exchange(taken, {}) == "aabb");
    CHECK(same_bits(plan->run(Tensors{x}), right));
    CHECK(taken == "aabb");
  }
  CHECK(plan->n_launches() == 6);  // product, sum, comparison, difference in the branch, sine, sum
}

TEST_CASE("plan: a function without results runs for its effects", "[engine]") {
  int n_calls = 0;
  const auto count = [&](double t) { return ++n_calls, t; };
  const core::MapPtr map = core::pointwise("count", 1, count, [](double) { return 1.0; });
  const Function nothing = checkpoint([&](const Tensors& x) -> Tensors {
    static_cast<void>(external(map, x[0]));
    return {};
  });
  const auto f = [&](const Tensors& x) -> Tensors {
    static_cast<void>(nothing(x));
    return {x[0] * 2.0};
  };
  const auto plan = plan_of(f, {row({1})});
  CHECK(plan->run(Tensors{row({2})})[0].item<double>() == 4.0);
  CHECK(plan->run(Tensors{row({3})})[0].item<double>() == 6.0);
  CHECK(n_calls == 2);
}

TEST_CASE("plan: what a function gives is used without gaps, as in an eager run", "[engine]") {
  const Function turned = checkpoint([](const Tensors& x) -> Tensors { return {transpose(x[0])}; });
  const auto f = [&](const Tensors& x) -> Tensors {
    const Tensor y = turned({x[0] * 1.0})[0];
    return {sum(y), y};
  };
  const Tensor x = counted({70, 50});
  CHECK(same_bits(plan_of(f, {x})->run(Tensors{x}), f({x})));
}

TEST_CASE("plan: memory in use after a run is that of block and results", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors {
    return {checkpoint([](const Tensors& in) -> Tensors { return {sin(in[0])}; })({x[0] * 2.0})[0] + 1.0};
  };
  const Tensor x = counted({1024});
  const Arena& arena = Arena::of(x.device());
  const auto plan = plan_of(f, {x});
  static_cast<void>(plan->run(Tensors{x}));
  const std::size_t before = arena.stats().in_use;
  const Tensors given = plan->run(Tensors{x});
  CHECK(arena.stats().in_use == before + 8192);
}

TEST_CASE("plan: what functions take and give is let go after its last use", "[engine]") {
  const Tensor x = counted({4096});  // 32768 bytes: a size class of the arena
  const Arena& arena = Arena::of(x.device());
  std::vector<std::size_t> in_use;
  const auto map = [&](const std::string& name, Dim n) {
    return core::pointwise(
        name, n, [&, n](double t) { return n > 1 ? t : (in_use.push_back(arena.stats().in_use), t); },
        [](double) { return 1.0; });
  };
  const auto f = [large = map("large", 4096), small = map("small", 1)](const Tensors& in) -> Tensors {
    const Tensor a = external(large, in[0] * 2.0);
    const Tensor b = external(small, slice(a, 0, 0, 1));
    return {external(small, b + 1.0)};
  };
  const auto plan = plan_of(f, {x});
  static_cast<void>(plan->run(Tensors{x}));
  in_use.clear();
  const std::size_t before = arena.stats().in_use;
  static_cast<void>(plan->run(Tensors{x}));
  REQUIRE(in_use.size() == 2);
  CHECK(in_use[0] > before + 32768);  // a, of which b is a part
  CHECK(in_use[0] < before + 2 * 32768);
  CHECK(in_use[1] < before + 32768);
}

TEST_CASE("plan: work that threads share has room for all of them, and no more threads than those",
          "[engine]") {
  const int before = core::threads();
  const Tensor x = counted({700, 300}), y = counted({300, 500});
  const auto f = [](const Tensors& in) -> Tensors { return {sum(matmul(in[0], in[1]), Axes{0})}; };
  const Tensors right = f({x, y});
  eval(right);
  core::set_threads(3);
  const auto plan = plan_of(f, {x, y});
  CHECK(same_bits(plan->run(Tensors{x, y}), right));
  core::set_threads(4);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(plan->run(Tensors{x, y}));
             }),
             HasId("more_threads", {"3", "4"}));
  core::set_threads(before);
}

TEST_CASE("plan: two threads run one at once", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (int i = 0; i < 20; ++i) y = sin(y) + x[0] * y;
    return {y, sum(y)};
  };
  const Tensors one{counted({300})}, two{counted({300}, 0.7)};
  const Tensors right_one = f(one), right_two = f(two);
  eval(right_one);
  eval(right_two);
  const auto plan = plan_of(f, one);
  int n_wrong_one = 0, n_wrong_two = 0;
  const auto run = [&](const Tensors& inputs, const Tensors& right, int& n_wrong) {
    for (int i = 0; i < 200; ++i) n_wrong += same_bits(plan->run(inputs), right) ? 0 : 1;
  };
  std::thread other([&] { run(two, right_two, n_wrong_two); });
  run(one, right_one, n_wrong_one);
  other.join();
  CHECK(n_wrong_one == 0);
  CHECK(n_wrong_two == 0);
}

TEST_CASE("plan: arrays on two devices lie in two blocks", "[engine]") {
  const Device second{Device::Kind::cpu, 1};
  const auto f = [&](const Tensors& x) -> Tensors {
    const Tensor there = copy_to(x[0] + 1.0, second);
    return {copy_to(there * there, cpu) - 1.0};
  };
  const Tensor x = copy_to(row({1, 2}), cpu).eval();
  const auto plan = plan_of(f, {x});
  CHECK(plan->block_bytes() == 128 + 64);
  CHECK(plan->run(Tensors{x})[0].to_vector<double>() == std::vector<double>{3, 8});
}

namespace {

bool is_ready = true;

/// Gives its input, if it may.
OpInfo row_that_may_fail() {
  OpInfo op;
  op.name = "may_fail";
  op.dtypes = DTypes{DType::f64};
  op.infer = [](const InferArgs& args) { return args.aval(0); };
  op.derivative.why_none = "it is not needed";
  op.with_kernel(Backend::reference, DType::f64,
                 {.name = "reference", .run = [](const KernelCall& call) {
                    if (!is_ready)
                      throw core::ShapeError("a library#not_ready", "expected to be called later");
                    std::copy_n(call.in[0].as<double>(), call.in[0].count(), call.out[0].as<double>());
                  }});
  return op;
}

}  // namespace

TEST_CASE("plan: an error names the op and its line, and the next run is a good one", "[engine]") {
  static const OpInfo op = row_that_may_fail();
  const auto f = [](const Tensors& x) -> Tensors {
    return {record(op, {x[0] + 1.0}, {}, std::source_location::current()) * 2.0};
  };
  const auto plan = plan_of(f, {row({1})});
  is_ready = false;
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(plan->run(Tensors{row({1})})); }),
             HasId("not_ready", {"[a library]", "may_fail", "(test_plan.cpp:"}));
  is_ready = true;
  CHECK(plan->run(Tensors{row({1})})[0].item<double>() == 4.0);
}

namespace {

bool library_refuses = false;

/// Gives its input by a library, which may refuse when half of that is written.
OpInfo row_of_library() {
  OpInfo op;
  op.name = "by_library";
  op.op_class = OpClass::window;
  op.dtypes = DTypes{DType::f64};
  op.infer = [](const InferArgs& args) { return args.aval(0); };
  op.derivative.why_none = "it is not needed";
  const auto run = [](const KernelCall& call) {
    std::copy_n(call.in[0].as<double>(), call.in[0].count() / 2, call.out[0].as<double>());
    if (library_refuses) throw core::DeviceError("a library#refused", "expected room, got none");
    std::copy_n(call.in[0].as<double>(), call.in[0].count(), call.out[0].as<double>());
  };
  op.with_kernel(Backend::onednn, DType::f64, {.name = "onednn", .run = run, .contiguous_inputs = true});
  return op;
}

}  // namespace

TEST_CASE("plan: a library that refuses half-way leaves every cell as it was", "[engine]") {
  static const OpInfo op = row_of_library();
  const DefaultDevice first_processor(cpu);  // others do without such libraries
  const Variable before("before", row({1, 2, 3, 4}), Variable::Role::state),
      of_it("of it", row({1, 2, 3, 4}), Variable::Role::state);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    before.assign(before.value() + x[0]);
    of_it.assign(record(op, {of_it.value() * x[0]}, {}, std::source_location::current()));
    return {x[0]};
  });
  const Tensors two{row({2, 2, 2, 2})};
  static_cast<void>(compiled(two));
  library_refuses = true;
  CHECK_THROWS_AS(compiled(two), core::DeviceError);
  CHECK(before.value().to_vector<double>() == std::vector<double>{3, 4, 5, 6});
  CHECK(of_it.value().to_vector<double>() == std::vector<double>{2, 4, 6, 8});
  library_refuses = false;
  static_cast<void>(compiled(two));
  CHECK(of_it.value().to_vector<double>() == std::vector<double>{4, 8, 12, 16});
}
