// SPDX-License-Identifier: Apache-2.0
// Functions that read values while they are recorded: which parts of them are plans, how many are made, and
// what decides on them.
#include "engine/compile/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/compile/segments_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::finite;
using tests::n_kernels;
using tests::number;
using tests::row;
using tests::same_bits;
using tests::SegmentCounts;
using tests::wave;

namespace {
using Is = std::vector<std::int64_t>;
}

TEST_CASE("segments: what is between two reads is a plan from its second run on", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]);
    const double first = number(y);
    return {first > 0.0 ? wave(y) : wave(wave(y))};
  };
  const Compiled compiled = compile(f), as_recorded = compile(f, {.level = Level::O0});
  SegmentCounts counts(compiled), counts_as_recorded(as_recorded);
  const Tensors x{row({1, 2, 3})}, small{row({1, 2, 2.5})}, other{row({-9, -9, -9})};
  REQUIRE(number(wave(x[0])) * number(wave(other[0])) < 0.0);
  REQUIRE(number(wave(x[0])) * number(wave(small[0])) > 0.0);
  const auto expect = [&](const Tensors& in, const Is& expected) {
    CHECK(same_bits(compiled(in), f(in)));
    CHECK(same_bits(as_recorded(in), f(in)));
    CHECK(counts.take() == expected);
    counts_as_recorded.take();
  };
  expect(x, {0, 2, 0, 0});
  expect(x, {2, 0, 2, 2});  // a wave with its sum, and a wave
  expect(small, {2, 0, 0, 2});
  expect(other, {1, 1, 0, 1});  // another branch
  expect(other, {2, 0, 1, 2});
  expect(x, {2, 0, 0, 2});
  static_cast<void>(as_recorded(x));
  CHECK(counts_as_recorded.take() == Is{2, 0, 0, n_kernels([&] { eval(f(x)); })});
  const CompileStats stats = compiled.stats();
  REQUIRE(stats.breaks.size() == 1);
  CHECK(stats.breaks[0].n == 6);
  CHECK(stats.n_traces == 0);
  CHECK(compiled.text(Stage::running).find("fused") != std::string::npos);
  CHECK(as_recorded.text(Stage::running).find("fused") == std::string::npos);
}

TEST_CASE("segments: what the caller has already, and a few kernels, are no plans", "[engine]") {
  const Compiled twice = compile([](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]);
    const double first = number(x[0]), second = number(x[0] * 2.0), third = y.data<double>()[0];
    return {y * (first + second + third + y.data<double>()[1])};
  });
  SegmentCounts counts(twice);
  for (int i = 0; i < 2; ++i) static_cast<void>(twice({row({1, 2})}));
  CHECK(counts.take() == Is{1, 7, 1, 1});
  static_cast<void>(twice({row({1, 2})}));
  CHECK(counts.take() == Is{1, 3, 0, 1});
}

TEST_CASE("segments: reading several values at once closes one segment", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensors both{wave(x[0]), wave(x[0] * 3.0)};
    eval(both);
    return {wave(both[0] * both[1].data<double>()[1] + both[0].data<double>()[0])};
  };
  const Compiled compiled = compile(f);
  SegmentCounts counts(compiled);
  for (const double x : {1.0, 2.0, 3.0, 4.0}) CHECK(same_bits(compiled({row({x, 1})}), f({row({x, 1})})));
  const Is taken = counts.take();
  CHECK(taken[0] == 6);
  CHECK(taken[1] == 2);
  CHECK(taken[2] == 3);  // the numbers in the second one become inputs
}

TEST_CASE("segments: numbers in the code that change become inputs once", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {  // steps shorten until they go down
    Tensor at = x[0];
    double step = 3.0, best = number(square(at));
    for (int turn = 0; turn < 12; ++turn) {
      const Tensor next = at - sin(at) * cos(at) * step * 2.0;
      const double value = number(square(next));
      if (value < best)
        at = next, best = value;
      else
        step *= 0.7;
    }
    return {at * 1.0};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 4; ++i) {
    const Tensors x{finite({5000}, static_cast<std::uint64_t>(i)) * 2.0};
    CHECK(same_bits(compiled(x), f(x)));
  }
  CHECK(compiled.stats().n_plans == 2);
  CHECK(compiled.stats().n_segments > 40);
}

TEST_CASE("segments: loops whose turns depend on data share their plans", "[engine]") {
  const Function root = [](const Tensors& x) -> Tensors {
    Tensor y = x[0] * 0.5 + 1.0;
    while (true) {
      const Tensor next = 0.5 * (y + x[0] / y);
      if (max(abs(next - y)).item<double>() < 1e-12) return {next};
      y = next;
    }
  };
  const Compiled compiled = compile(root);
  for (int i = 1; i < 6; ++i) {
    const Tensors x{abs(finite({5000}, static_cast<std::uint64_t>(i))) * std::pow(10.0, i) + 1.0};
    CHECK(same_bits(compiled(x), root(x)));
  }
  CHECK(compiled.stats().n_plans == 2);  // the first turn has the first guess in it
  CHECK(compiled.stats().n_segments > 20);
}

TEST_CASE("segments: the plan goes that was not used for the longest time, none that the call needs",
          "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (Dim i = 1; i < 4; ++i) {  // a segment of its own in every turn
      y = wave(reshape(y, {i, 12 / i}));
      if (number(y) == 0.0) break;
    }
    return {y};
  };
  const Tensors x{finite({12}, 3)}, y{finite({12}, 3, DType::f64) * 2.0};
  const Compiled roomy = compile(f), narrow = compile(f, {.most_plans = 2});
  SegmentCounts counts(roomy), of_narrow(narrow);
  const auto n_warnings = [&](const Compiled& compiled) {
    return tests::warnings_of([&] {
             for (int i = 0; i < 4; ++i) CHECK(same_bits(compiled(x), f(x)));
           })
        .size();
  };
  CHECK(n_warnings(roomy) == 0);
  CHECK(counts.take() == Is{9, 3, 3, 9});  // nothing is left to run at the end
  CHECK(n_warnings(narrow) == 0);
  CHECK(of_narrow.take() == Is{6, 6, 2, 6});
  // Others take the places in later calls.
  const Function by_shape = [](const Tensors& in) -> Tensors { return {in[0] * number(wave(in[0]))}; };
  const Compiled changing = compile(by_shape, {.most_plans = 2});
  const auto warnings = tests::warnings_of([&] {
    for (const Dim n : {2, 3, 4, 4, 2, 3}) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        const Tensors in{finite({n}, i + 1)};
        CHECK(same_bits(changing(in), by_shape(in)));
      }
    }
  });
  CHECK(changing.stats().n_plans == 5);
  CHECK_FALSE(tests::text_with(warnings, "engine::compile#too_many_segments").empty());
}

TEST_CASE("segments: options hold for them, and who looks on sees every op", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]) / 3.0;
    return {wave(y) / (number(y) > 0.0 ? 3.0 : 7.0)};
  };
  const Tensors x{finite({64}, 5)};
  const Compiled fast = compile(f, {.exactness = Exactness::fast});
  const Compiled tight = compile(
      [](const Tensors& in) -> Tensors {
        const Tensor y = matmul(wave(matmul(in[0], in[0])), in[0]);
        return {y * number(y)};
      },
      {.budget = 8});
  const Tensors square{finite({8, 8}, 5)};
  for (int i = 0; i < 3; ++i) {
    const Tensor right = f(x)[0], given = fast(x)[0];
    const auto a = right.data<double>(), b = given.data<double>();
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(b[k] == Approx(a[k]).epsilon(1e-14));
    static_cast<void>(tight(square));
  }
  REQUIRE(fast.stats().liberties.size() == 1);
  CHECK(fast.stats().liberties[0].name == "x / c");
  CHECK(fast.text().find("divide") != std::string::npos);
  CHECK(fast.text(Stage::rewritten).find("divide") == std::string::npos);
  CHECK(tight.stats().n_segments == 0);  // no plan fits into so few bytes
  const Compiled compiled = compile(f);
  for (int i = 0; i < 2; ++i) static_cast<void>(compiled(x));
  const CompileStats before = compiled.stats();
  CHECK(n_kernels([&] { eval(compiled(x)); }) == n_kernels([&] { eval(f(x)); }));
  CHECK(compiled.stats().n_segments == before.n_segments);
  CHECK(compiled.stats().n_op_by_op == before.n_op_by_op);
}

TEST_CASE("segments: an observer inside of the function sees every op", "[engine]") {
  std::int64_t n_seen = 0;
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]);
    static_cast<void>(number(y));
    n_seen = n_kernels([&] { wave(y).eval(); });
    return {wave(y)};
  });
  for (int i = 0; i < 3; ++i) {
    n_seen = 0;
    static_cast<void>(compiled({row({1, 2})}));
    CHECK(n_seen == 12);
  }
  CHECK(compiled.stats().n_segments == 4);
}

TEST_CASE("segments: thousands of ops without a read are cut where a run op by op evaluates", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0] * number(x[0]);
    for (int i = 0; i < most_pending + 100; ++i) y = sin(y);
    return {y};
  };
  const Compiled compiled = compile(f);
  const Tensors x{row({1, 2})};
  const Tensors right = f(x);
  for (int i = 0; i < 3; ++i) CHECK(same_bits(compiled(x), right));
  CHECK(compiled.stats().n_plans == 2);
  CHECK(compiled.stats().n_segments == 4);
}

// ---- What decides on a plan ------------------------------------------------------------------------------

namespace {

/// Nodes that a tensor needs, as they would run.
SegmentNodes nodes_of(const Tensor& result, bool all_leave = false) {
  std::vector<Node*> found{&result.node()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const NodePtr& input : found[i]->inputs) {
      if (!input->is_evaluated() && std::ranges::find(found, input.get()) == found.end())
        found.push_back(input.get());
    }
  }
  SegmentNodes nodes;
  nodes.take(found, all_leave);
  return nodes;
}

}  // namespace

TEST_CASE("segments: what leaves one is what has an owner beside it", "[engine]") {
  const Tensor x = row({1, 2});
  const auto n_leaving = [](const SegmentNodes& nodes) { return nodes.leaving().size(); };
  const Tensor y = wave(wave(x));
  CHECK(n_leaving(nodes_of(y)) == 1);
  CHECK(n_leaving(nodes_of(y, true)) == nodes_of(y).nodes().size());
  const Tensor z = square(y);
  CHECK(n_leaving(nodes_of(y * y)) == 2);  // z needs y
  const Tensor sum_of_all = [&] { return square(x) * z; }();
  CHECK(n_leaving(nodes_of(sum_of_all)) == 3);  // and so does this variable
  const Tensor both = [&] {
    const Tensor inside = sin(x);
    return inside * inside + inside;
  }();
  CHECK(n_leaving(nodes_of(both)) == 1);
  const auto held = std::make_unique<NodePtr>(both.node().inputs[1]);
  CHECK(n_leaving(nodes_of(both)) == 2);
  CHECK(nodes_of(both).is_leaving(0));
}

TEST_CASE("segments: one difference anywhere is another program", "[engine]") {
  using Match = SegmentCode::Match;
  const Tensor x = finite({3, 3}, 1), y = finite({3, 3}, 2), turned = transpose(finite({3, 3}, 3)).eval();
  const auto recorded = [](const Tensor& in, int axis, double factor, bool adds, const Tensor& other) {
    const Tensor first = sum(sin(in) * factor, Axes{axis}, Keep::yes);
    return adds ? first + other : first - other;
  };
  const Tensor right = recorded(x, 0, 2.0, true, y);
  const SegmentNodes nodes = nodes_of(right);
  const SegmentCode code(nodes);
  const auto match = [&](const Tensor& result) { return code.match(nodes_of(result)); };
  CHECK(match(recorded(x, 0, 2.0, true, y)) == Match::same);
  CHECK(match(recorded(y, 0, 2.0, true, x)) == Match::same);
  CHECK(match(recorded(x, 1, 2.0, true, y)) == Match::none);
  CHECK(match(recorded(x, 0, 2.0, false, y)) == Match::none);
  CHECK(match(recorded(x, 0, 2.0, true, x)) == Match::none);
  const auto difference = [&](bool turned_around) {
    const Tensor a = sin(x), b = cos(y);
    return turned_around ? b - a : a - b;
  };
  const Tensor one = difference(false);
  CHECK(SegmentCode(nodes_of(one)).match(nodes_of(difference(false))) == Match::same);
  CHECK(SegmentCode(nodes_of(one)).match(nodes_of(difference(true))) == Match::none);
  CHECK(match(recorded(turned, 0, 2.0, true, y)) == Match::none);
  CHECK(match(recorded(cast(x, DType::f32).eval(), 0, 2.0, true, cast(y, DType::f32).eval())) == Match::none);
  CHECK(match(recorded(finite({4, 3}, 1), 0, 2.0, true, y)) == Match::none);
  CHECK(match(sin(right)) == Match::none);
  const Tensor held_inside = recorded(x, 0, 2.0, true, y);
  const NodePtr owner = held_inside.node().inputs[0];
  CHECK(match(held_inside) == Match::none);
  // Numbers are part of the program, until others come.
  const Tensor thrice = recorded(x, 0, 3.0, true, y);
  CHECK(match(thrice) == Match::but_for_numbers);
  CHECK(code.inputs(nodes).size() == 2);
  SegmentCode freed = code;
  freed.free_numbers(nodes_of(thrice));
  CHECK(freed.match(nodes_of(thrice)) == Match::same);
  CHECK(freed.match(nodes) == Match::same);
  CHECK(freed.inputs(nodes).size() == 3);
  const Program program = code.program(nodes), of_freed = freed.program(nodes);
  CHECK(program.n_inputs() == 2);
  CHECK(of_freed.n_inputs() == 3);
  CHECK_FALSE(program.same(of_freed));
}
