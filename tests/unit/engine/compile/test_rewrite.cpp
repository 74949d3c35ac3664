// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/rewrite.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::plan_of;
using tests::same_bits;
using Applied = AppliedRules;

namespace {

/// Every bit pattern that matters: zeros, infinities, NaN, subnormal numbers, and usual ones.
Tensor usual_and_special() {
  std::mt19937_64 random(3);
  std::vector<double> values = tests::drawn(DType::f64, {500}, random).to_vector<double>();
  for (const double each : {0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308}) values.push_back(each);
  return Tensor::from(values, {static_cast<Dim>(values.size())});
}

/// Draws bit patterns of a dtype, every eighth of them special: zeros, infinities, NaN, the smallest and
/// largest numbers. Integers are small, so that sums and products of a few have their dtype.
template <class T>
Tensor patterns(Dim n, std::uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  constexpr std::array specials{T(0),
                                T(-T(0)),
                                T(1),
                                T(T(0) - T(1)),
                                Limits::max(),
                                Limits::lowest(),
                                Limits::infinity(),
                                T(-Limits::infinity()),
                                Limits::quiet_NaN(),
                                Limits::denorm_min(),
                                T(-Limits::denorm_min()),
                                T(Limits::min() - Limits::denorm_min()),
                                Limits::min()};
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& each : values) {
    const std::uint64_t word = random();
    if constexpr (!std::is_floating_point_v<T>) {
      each = static_cast<T>(word % 11);
    } else if (word % 8 == 0) {
      each = specials[(word >> 8) % specials.size()];
    } else {
      const std::uint64_t bits = random();
      std::memcpy(&each, &bits, sizeof each);
    }
  }
  return Tensor::from(values, {n});
}
Tensor patterns(DType dtype, Dim n, std::uint64_t seed) {
  switch (dtype) {
    case DType::f32:
      return patterns<float>(n, seed);
    case DType::f64:
      return patterns<double>(n, seed);
    case DType::i32:
      return patterns<std::int32_t>(n, seed);
    case DType::u8:
      return patterns<std::uint8_t>(n, seed);
    case DType::c64:
      return complex(patterns<float>(n, seed), patterns<float>(n, seed + 1)).eval();
    default:
      return complex(patterns<double>(n, seed), patterns<double>(n, seed + 1)).eval();
  }
}

Program recorded(const Function& f, const Tensors& like) {
  return Program::of(Trace::without_values(f, avals_of(like), std::source_location::current()));
}

/// Returns which rules apply to f of what a kernel gives, after a check that the bits stay.
Applied applied_to(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = usual_and_special();
  const Function g = [&](const Tensors& in) -> Tensors { return {f(maximum(in[0], in[1]))}; };
  const Tensors inputs{x, x};
  CHECK(same_bits(plan_of(g, inputs, Level::O1)->run(inputs), g(inputs)));
  return rewritten(recorded(g, inputs)).applied;
}

}  // namespace

TEST_CASE("rewriting: ops that change nothing go", "[engine]") {
  CHECK(applied_to([](const Tensor& x) { return x * 1.0; }) == Applied{{"x 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return 1.0 * x; }) == Applied{{"x 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return x / 1.0; }) == Applied{{"x / 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return x - 0.0; }) == Applied{{"x - 0", 1}});
  CHECK(applied_to([](const Tensor& x) { return x + -0.0; }) == Applied{{"x + -0", 1}});
  CHECK(applied_to([](const Tensor& x) { return -(-x); }) == Applied{{"-(-x)", 1}});
  CHECK(applied_to([](const Tensor& x) { return maximum(x, x); }) == Applied{{"larger of equals", 1}});
  CHECK(applied_to([](const Tensor& x) { return select(greater(x, 0.5), x, x); }) ==
        Applied{{"equal choices", 1}});
  CHECK(applied_to([](const Tensor& x) { return cast(cast(x, DType::c128) + 0.0, DType::c128); }).empty());
  CHECK(applied_to([](const Tensor& x) {
          const Tensor single = cast(x, DType::f32);
          return cast(cast(single, DType::f64), DType::f32);
        }) == Applied{{"cast and back", 1}});
  CHECK(applied_to([](const Tensor& x) { return stop_gradient(x) * 2.0; }) == Applied{{"identity", 1}});
  CHECK(applied_to([](const Tensor& x) { return exp(x) + exp(x); }) == Applied{{"occurs again", 1}});
  CHECK(applied_to([](const Tensor& x) { return (x - 0.0) * 1.0; }) == Applied{{"x - 0", 1}, {"x 1", 1}});
  const Tensor yes = full({}, true, DType::b8);
  CHECK(applied_to([&](const Tensor& x) { return select(broadcast_to(yes, x.shape()), exp(x), x); }) ==
        Applied{{"known choice", 1}});
}

TEST_CASE("rewriting: ops become cheaper ones", "[engine]") {
  CHECK(applied_to([](const Tensor& x) { return exp(x) + -x; }) == Applied{{"a + -b", 1}});
  CHECK(applied_to([](const Tensor& x) { return -x + exp(x); }) == Applied{{"a + -b", 1}});
  CHECK(applied_to([](const Tensor& x) { return exp(x) - -x; }) == Applied{{"a - -b", 1}});
  CHECK(applied_to([](const Tensor& x) { return x * -1.0; }) == Applied{{"x -1", 1}});
  CHECK(applied_to([](const Tensor& x) { return x / -1.0; }) == Applied{{"x -1", 1}});
  CHECK(applied_to([](const Tensor& x) { return -1.0 / x; }).empty());
  for (const double each : {8.0, -0.5, 0x1p1022, 0x1p-1022})
    CHECK(applied_to([&](const Tensor& x) { return x / each; }) == Applied{{"x / 2^k", 1}});
  for (const double each : {3.0, 0.0, 0x1p1023, 5e-324})  // the last reciprocals are not normal
    CHECK(applied_to([&](const Tensor& x) { return x / each; }).empty());
  CHECK(applied_to([](const Tensor& x) { return x / 8.0 + x / 8.0; }) ==
        Applied{{"occurs again", 1}, {"x / 2^k", 1}});
  CHECK(applied_to([](const Tensor& x) { return x + x * 2.0; }).empty());
}

TEST_CASE("rewriting: numbers are computed while a function is recorded", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor numbers = exp(reshape(iota(64, DType::f64) * 0.1, {8, 8}));
    return {in[0] * (numbers + transpose(numbers)) * sum(numbers)};
  };
  const Program program = recorded(f, {full({8, 8}, 1.0, DType::f64)});
  CHECK(program.instructions().size() == 2);  // two products
}

namespace {

using Ops = std::function<Tensor(const Tensor&, const Tensor&)>;
struct ExactCase {
  std::string_view rule;
  Ops f;
  std::vector<DType> dtypes;
};

std::vector<ExactCase> exact_cases() {
  using enum DType;
  using T = const Tensor&;
  const std::vector reals{f32, f64}, floats{f32, f64, c64, c128}, no_complex{f32, f64, i32, u8},
      all{f32, f64, c64, c128, i32, u8};
  std::vector<ExactCase> cases{
      {"x 1", [](T x, T) { return x * 1; }, no_complex},
      {"x / 1", [](T x, T) { return x / 1; }, reals},
      {"x - 0", [](T x, T) { return x - 0; }, no_complex},
      {"x + -0", [](T x, T) { return x + -0.0; }, reals},
      {"x -1", [](T x, T) { return x * -1; }, reals},
      {"x -1", [](T x, T) { return x / -1; }, reals},
      {"-(-x)", [](T x, T) { return -(-x); }, floats},
      {"a + -b", [](T x, T y) { return x + -y; }, floats},
      {"a + -b", [](T x, T y) { return -x + -y; }, floats},
      {"a - -b", [](T x, T y) { return x - -y; }, floats},
      {"larger of equals", [](T x, T) { return minimum(x, x); }, no_complex},
      {"equal choices", [](T x, T y) { return select(equal(x, y), x, x); }, all},
      {"known choice", [](T x, T y) { return select(broadcast_to(full({}, false, b8), x.shape()), x, y); },
       all},
      {"cast and back", [](T x, T) { return cast(cast(x, f64), f32); }, {f32}},
      {"cast and back", [](T x, T) { return cast(cast(x, c128), c64); }, {c64}},
      {"occurs again", [](T x, T y) { return x * y - x * y; }, all},
  };
  for (const double each : {2.0, -4.0, 0x1p100, 0x1p126, 0x1p-1, -0x1p-126})
    cases.push_back({"x / 2^k", [each](T x, T) { return x / each; }, reals});
  return cases;
}

}  // namespace

TEST_CASE("rewriting: exact rules keep the bits of random patterns of every dtype", "[engine]") {
  std::uint64_t seed = 1;
  for (const ExactCase& each : exact_cases()) {
    for (const DType dtype : each.dtypes) {
      INFO(each.rule << " of " << core::name_of(dtype));
      const Tensors inputs{patterns(dtype, 100'000, seed), patterns(dtype, 100'000, seed + 2)};
      seed += 4;
      // Of what kernels give, and as their operand.
      const Function f = [&](const Tensors& in) -> Tensors {
        const Tensor x = in[0] * in[0], y = in[1] + in[0];
        return {each.f(x, y), each.f(in[0], in[1]) * in[0], each.f(in[0], in[1])};
      };
      CHECK(rewritten(recorded(f, inputs)).applied[each.rule] > 0);
      CHECK(same_bits(plan_of(f, inputs, Level::O1)->run(inputs), f(inputs)));
    }
  }
}

TEST_CASE("rewriting: rules that change bits are found", "[engine]") {
  using Found = std::optional<ValueId>;
  const auto rule = [](std::string_view op, auto apply) {
    return RewriteRule{"fault", apply, {&op_named(op)}};
  };
  const std::array faults{
      std::tuple{
          rule("add", [](Rewriter&, const NextInstruction& next) -> Found { return next.operands[0]; }),
          Ops([](const Tensor& x, const Tensor&) { return x + 0.0; })},
      std::tuple{rule("multiply",  // 3 x would be x + x + x
                      [](Rewriter& program, const NextInstruction& next) -> Found {
                        static const OpInfo& add = op_named("add");
                        const ValueId x = next.operands[0];
                        ValueId sum = x;
                        for (int i = 1; i < 7; ++i) sum = program.add(next, add, {}, {sum, x}, next.aval);
                        return sum;
                      }),
                 Ops([](const Tensor& x, const Tensor&) { return x * 7.0; })},
      std::tuple{rule("negative",
                      [](Rewriter& program, const NextInstruction& next) -> Found {
                        static const OpInfo& subtract = op_named("subtract");
                        const Instruction* from = program.producer(next.operands[0], &subtract);
                        if (from == nullptr) return {};
                        const ValueId a = program.operand(*from, 0), b = program.operand(*from, 1);
                        return program.add(next, subtract, {}, {b, a}, next.aval);
                      }),
                 Ops([](const Tensor& x, const Tensor& y) { return -(x - y); })}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensors inputs{patterns(dtype, 10'000, 1), patterns(dtype, 10'000, 2)};
    for (const auto& [fault, ops] : faults) {
      const Function f = [&ops = ops](const Tensors& in) -> Tensors { return {ops(in[0], in[1])}; };
      const Rewritten wrong = rewritten(recorded(f, inputs), RuleTable{std::span(&fault, 1)});
      CHECK(wrong.applied == Applied{{"fault", 1}});
      const Plan plan(wrong.program, tests::strides_of(inputs));
      CHECK_FALSE(same_bits(plan.run(inputs), f(inputs)));
    }
  }
}

TEST_CASE("rewriting: effects stay, what nobody needs goes", "[engine]") {
  int n_calls = 0;
  const core::MapPtr map = core::pointwise(
      "count", 2, [&](double t) { return ++n_calls, t; }, [](double) { return 1.0; });
  const Function f = [&](const Tensors& in) -> Tensors {
    const Tensor b = -in[1];
    static_cast<void>(external(map, in[1] * 1.0));
    return {in[0] + b};
  };
  const Tensors inputs{Tensor::from(std::vector{1.0, 2.0}, {2}), Tensor::from(std::vector{3.0, 4.0}, {2})};
  const Rewritten shorter = rewritten(recorded(f, inputs));
  std::vector<std::string_view> ops;
  for (const Instruction& each : shorter.program.instructions()) ops.push_back(each.op->name);
  CHECK(ops == std::vector<std::string_view>{"multiply", "external_call", "subtract"});
  const Plan plan(shorter.program, tests::strides_of(inputs));
  n_calls = 0;
  CHECK(same_bits(plan.run(inputs), {inputs[0] - inputs[1]}));
  CHECK(n_calls == 2);
}

namespace {

/// Returns which rules apply to a function of a matrix. Bits stay, of dense and of strided ones, also those
/// of sums in the order of memory.
Applied moved_by(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = tests::drawn({60, 40}, 5);
  Applied applied;
  for (const Tensor& input : {x, transpose(tests::drawn({40, 60}, 6)).eval()}) {
    const Function g = [&](const Tensors& in) -> Tensors {
      const Tensor given = f(in[0]), made = f(exp(in[0]));
      return {given, sum(given), sum(made, Axes{0}), made};
    };
    const Tensors inputs{input};
    CHECK(same_bits(plan_of(g, inputs, Level::O1)->run(inputs), g(inputs)));
    applied = rewritten(recorded(g, inputs)).applied;
    applied.erase("identity");  // the mark of the input
  }
  return applied;
}

}  // namespace

TEST_CASE("rewriting: movements one after the other are one, or none", "[engine]") {
  CHECK(moved_by([](const Tensor& x) { return transpose(transpose(x)); }) ==
        Applied{{"same order", 2}, {"two transposes", 2}});
  CHECK(moved_by([](const Tensor& x) {
          return transpose(transpose(reshape(x, {6, 10, 40}), Axes{1, 2, 0}), Axes{0, 2, 1});
        }) == Applied{{"two transposes", 2}});
  CHECK(moved_by([](const Tensor& x) {
          return reshape(reshape(x, {2400}), {30, 80});
        }) == Applied{{"two reshapes", 2}});
  // Not of an input, which may have gaps: then it is a copy without them.
  CHECK(moved_by([](const Tensor& x) {
          return reshape(reshape(x, {2400}), {60, 40});
        }) == Applied{{"same shape", 1}, {"two reshapes", 2}});
  CHECK(moved_by([](const Tensor& x) {
          return broadcast_to(broadcast_to(slice(x, 0, 2, 3), {60, 40}), {2, 60, 40});
        }) == Applied{{"two repetitions", 2}});
  CHECK(moved_by([](const Tensor& x) { return flip(flip(x, 1), 1); }) ==
        Applied{{"all elements", 2}, {"two slices", 2}});
  CHECK(moved_by([](const Tensor& x) { return slice(flip(slice(x, 0, 3, 50, 2), 0), 0, 1, 20, 3); }) ==
        Applied{{"two slices", 4}});
  CHECK(moved_by([](const Tensor& x) { return transpose(exp(transpose(x))); }).empty());
}

TEST_CASE("rewriting: a pad that is undone goes", "[engine]") {
  const IntList ones{1, 2}, none{0, 0};
  CHECK(moved_by([&](const Tensor& x) {
          return pad(pad(x, ones, ones), {-1, -2}, {-1, -2});
        }) == Applied{{"no pad", 1}, {"two pads", 2}});  // what kernels give is dense, an input need not be
  CHECK(moved_by([&](const Tensor& x) {
          return pad(pad(x, ones, ones), {-1, -1}, {0, -2});
        }) == Applied{{"two pads", 2}});
  CHECK(moved_by([&](const Tensor& x) { return pad(pad(x, ones, ones), {-2, -2}, none); }).empty());
  CHECK(moved_by([&](const Tensor& x) { return pad(pad(x, ones, ones), ones, none); }).empty());
  const auto undone = [&](const Tensor& x) {
    return slice(slice(pad(x, {1, 0}, {0, 3}, {2, 0}), 0, 1, 179, 3), 1, 0, 40);
  };
  CHECK(moved_by(undone) == Applied{{"two slices", 2}});  // it has gaps, and is added up
  CHECK(moved_by([&](const Tensor& x) { return exp(undone(x)); }) ==
        Applied{{"occurs again", 1}, {"slice of a pad", 2}, {"two slices", 2}});
  CHECK(moved_by([&](const Tensor& x) { return exp(slice(pad(x, {1, 0}, none), 0, 0, 60)); }).empty());
}

TEST_CASE("rewriting: what repeats one element is computed once, from some size on", "[engine]") {
  const auto applied = [](Dim n, const std::function<Tensor(const Tensor&)>& f) {
    const Tensors inputs{tests::drawn({n}, 3), Tensor::from(std::vector{0.3}, {1})};
    const Function g = [&](const Tensors& in) -> Tensors {
      const Tensor y = f(broadcast_to(in[1], in[0].shape()));
      return {in[0] * y, sum(in[0] - y)};
    };
    CHECK(same_bits(plan_of(g, inputs, Level::O1)->run(inputs), g(inputs)));
    Applied result = rewritten(recorded(g, inputs)).applied;
    result.erase("identity");
    return result;
  };
  CHECK(applied(5000, [](const Tensor& x) { return exp(x); }) == Applied{{"before repetition", 1}});
  CHECK(applied(5000, [](const Tensor& x) { return exp(x) * 3.0 - x; }) ==
        Applied{{"before repetition", 3}, {"occurs again", 1}});
  CHECK(applied(4000, [](const Tensor& x) { return exp(x); }).empty());
  CHECK(applied(5000, [](const Tensor& x) {
          const Tensor e = exp(x);
          return e + sum(e);
        }).empty());
}

TEST_CASE("rewriting: ops that change a bit stay", "[engine]") {
  CHECK(applied_to([](const Tensor& x) { return x + 0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return x - -0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return 0.0 - x; }).empty());
  CHECK(applied_to([](const Tensor& x) { return x * 0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return 1.0 / x; }).empty());
  CHECK(applied_to([](const Tensor& x) { return cast(cast(x, DType::f32), DType::f64); }).empty());
  CHECK(applied_to([](const Tensor& x) { return maximum(x, 0.25) - minimum(x, 0.5); }).empty());
  CHECK(applied_to([](const Tensor& x) { return exp(x) + exp(-x); }).empty());
  CHECK(applied_to([](const Tensor& x) {
          return blend(x, -x, {0.9, 0.1}) - blend(x, -x, {0.8, 0.1});
        }) == Applied{{"occurs again", 1}});  // -x alone
}

TEST_CASE("rewriting: a value with gaps does not take the place of one without", "[engine]") {
  const Tensor x = transpose(reshape(slice(usual_and_special(), 0, 0, 480), {24, 20})).eval();
  const Function f = [](const Tensors& in) -> Tensors { return {sum(in[0] * 1.0, Axes{0}), -(-in[0])}; };
  CHECK(rewritten(recorded(f, {x})).applied.empty());
  CHECK(same_bits(plan_of(f, {x}, Level::O1)->run(Tensors{x}), f({x})));
}
