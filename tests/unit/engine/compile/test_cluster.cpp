// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/cluster.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/schedule.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/tile/tile_program.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_functions.hpp"

#include <numeric>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::row;
using tests::same_bits;
using tests::Threads;
using tests::Work;
using tests::work_of;

namespace {

constexpr Dim n = 24, m = 10;
constexpr std::size_t bytes = 8 * n * m;  // of an array of f64
Tensor matrix(std::uint64_t seed = 1) { return tests::drawn({n, m}, seed); }
Tensor vector_of(Dim count) { return tests::drawn({count}, 7); }

}  // namespace

TEST_CASE("clusters: random programs give the bits of eager runs on 1, 2 and 3 threads", "[engine]") {
  const std::vector<std::uint64_t> seeds = tests::seeds_of_programs(0, 500);
  std::int64_t n_fewer = 0;
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32, DType::u32,
                            DType::i64, DType::u64, DType::i8, DType::u8, DType::b8}) {
    for (const std::uint64_t seed : seeds) {
      INFO(core::name_of(dtype) << ", seed " << seed);
      const tests::RandomProgram random(dtype, seed, seed % 50 == 0);
      const Function f = random.function();
      const Tensors right = f(random.inputs());
      eval(right);
      const Trace trace =
          Trace::without_values(f, avals_of(random.inputs()), std::source_location::current());
      const auto recorded = plan_of(trace, random.inputs(), Level::O0);
      REQUIRE(same_bits(recorded->run(random.inputs()), right));
      n_fewer += recorded->n_launches();
      for (const int n_threads : {1, 2, 3}) {
        const Threads scope(n_threads);
        const auto plan = plan_of(trace, random.inputs(), Level::O1);
        REQUIRE(same_bits(plan->run(random.inputs()), right));
        if (n_threads == 1) n_fewer -= plan->n_launches();
      }
    }
  }
  CHECK(n_fewer >= (seeds.size() > 1 ? 8000 : 0));
}

TEST_CASE("clusters: random programs give the bits of eager runs by text, on 1, 2 and 3 threads",
          "[engine]") {
  const std::vector<std::uint64_t> seeds = tests::seeds_of_programs(1000, 60);
  tests::TestJit jit;
  std::int64_t n_by_text = 0;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64, DType::i8,
                            DType::u8, DType::b8}) {
    for (const std::uint64_t seed : seeds) {
      INFO(core::name_of(dtype) << ", seed " << seed);
      const tests::RandomProgram random(dtype, seed, seed % 5 == 0);
      const Function f = random.function();
      const Tensors right = f(random.inputs());
      eval(right);
      const Trace trace =
          Trace::without_values(f, avals_of(random.inputs()), std::source_location::current());
      for (const int n_threads : {1, 2, 3}) {
        const Threads scope(n_threads);
        const auto plan = plan_of(trace, random.inputs(), Level::O1, *jit);
        REQUIRE(same_bits(plan->run(random.inputs()), right));
        if (n_threads == 1) n_by_text += plan->n_by_text();
      }
    }
  }
  CHECK(n_by_text >= (seeds.size() > 1 ? 350 : 0));
}

TEST_CASE("clusters: by text, tiles that do not divide an array, and operands of every stride", "[engine]") {
  tests::TestJit jit;
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor a = in[0] * 2.0 + in[1], b = sin(a) * 1e9;  // some angles are too large for the usual way
    return {exp(a * -0.01) - sin(b), a};
  };
  for (const Dim count : {1, 2, 255, 256, 257, 2049, 100003}) {
    INFO(count);
    const Tensor x = reshape(vector_of(count), {count, 1}), pairs = reshape(vector_of(2 * count), {count, 2});
    const Tensor one = broadcast_to(slice(x, 0, 0, 1), {count, 1});
    int n_kinds = 0;
    for (const Tensor& y : {x, flip(x, 0), slice(pairs, 1, 0, 1), one}) {
      INFO("operand " << n_kinds++);
      const auto plan = plan_of(f, {x, y.eval()}, Level::O1, *jit);
      CHECK(plan->n_by_text() > 0);
      CHECK(same_bits(plan->run(Tensors{x, y}), f({x, y})));
    }
  }
}

TEST_CASE("clusters: the samples of all rows give the bits of eager runs", "[engine]") {
  int n_plans = 0;
  tests::for_each_sample_function(2, [&](const tests::SampleFunction& sample) {
    INFO(sample.name);
    const auto plan = plan_of(sample.trace(), sample.inputs, Level::O1);
    CHECK(same_bits(plan->run(sample.inputs), sample.f(sample.inputs)));
    ++n_plans;
  });
  CHECK(n_plans > 1000);
}

TEST_CASE("clusters: launches and bytes are the fewest there can be", "[engine]") {
  const Tensor x = matrix(), y = matrix(2), b = vector_of(m);
  const auto chain = [](const Tensors& in) -> Tensors {
    Tensor z = in[0];
    for (int i = 0; i < 4; ++i) z = engine::tanh(z * 1.5);
    return {z};
  };
  CHECK(work_of(chain, {x}) == Work{1, 2 * bytes});
  const auto bias = [](const Tensors& in) -> Tensors {
    const Tensor z = in[0] + in[1];
    return {0.5 * z * (1.0 + erf(z * 0.7071))};
  };
  CHECK(work_of(bias, {x, b}) == Work{1, 2 * bytes + 8 * m});
  const auto two_outputs = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0]);
    return {e * in[1], e};
  };
  CHECK(work_of(two_outputs, {x, y}) == Work{1, 4 * bytes});
  const auto mixed = [](const Tensors& in) -> Tensors {
    return {cast(select(greater(in[0], in[1]), in[0], -in[1]), DType::f32)};
  };
  CHECK(work_of(mixed, {x, y}) == Work{1, 2 * bytes + bytes / 2});
  const auto softmax_by_hand = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0] - broadcast_to(reshape(max(in[0], Axes{1}), {n, 1}), {n, m}));
    return {e / broadcast_to(reshape(sum(e, Axes{1}), {n, 1}), {n, m})};
  };
  CHECK(work_of(softmax_by_hand, {x}) == Work{1, 2 * bytes});
  const auto adam = [](const Tensors& in) -> Tensors {
    const Tensor mean = blend(in[1], in[3], {0.9, 0.1}), size = blend(in[2], square(in[3]), {0.99, 0.01});
    return {adam_step(in[0], mean, size, {1e-3, 1.1, 1e-8}), mean, size};
  };
  CHECK(work_of(adam, {x, y, square(x), y}) == Work{1, 7 * bytes});
  const auto norm = [](const Tensors& in) -> Tensors { return {swish(scale_shift(in[0], in[1], in[1]))}; };
  CHECK(work_of(norm, {x, b}) == Work{1, 2 * bytes + 8 * m});
  const auto turned = [](const Tensors& in) -> Tensors { return {transpose(exp(in[0]) * 2.0) + 1.0}; };
  CHECK(work_of(turned, {x}) == Work{2, 4 * bytes + 8});
}

TEST_CASE("clusters: launches and bytes of slopes, reshapes and other shapes are the fewest, too",
          "[engine]") {
  const Tensor x = matrix(), y = matrix(2), b = vector_of(m);
  const auto slope = [](const Tensors& in) -> Tensors {
    return {grad([](const Tensor& at) { return sum(square(engine::tanh(at * 2.0))); })(in[0])};
  };
  CHECK(work_of(slope, {x}) == Work{1, 2 * bytes});  // the sum itself is not needed
  const auto unneeded = [](const Tensors& in) -> Tensors {
    const Tensor z = in[0] + 1.0, twice = in[0] + 1.0;
    return {z * twice};
  };
  CHECK(work_of(unneeded, {x}) == Work{1, 2 * bytes});
  const auto reshaped = [](const Tensors& in) -> Tensors {
    return {reshape(reshape(exp(in[0]), {n * m}) * in[1], {m, n}) + 1.0};
  };
  CHECK(work_of(reshaped, {x, vector_of(n * m)}) == Work{1, 3 * bytes});
  const auto two_shapes = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0]), flat = reshape(e, {n * m});
    return {flat * 2.0, flat, transpose(e)};
  };
  CHECK(work_of(two_shapes, {x}) == Work{1, 3 * bytes});
  const auto other_shape = [](const Tensors& in) -> Tensors { return {in[0] * 2.0 + in[1], in[1] * 3.0}; };
  CHECK(work_of(other_shape, {x, b}) == Work{1, 2 * bytes + 3 * 8 * m});  // two parts of a table
  const auto long_chain = [](const Tensors& in) -> Tensors {
    Tensor z = in[0];
    for (int i = 0; i < 1000; ++i) z = z + in[1];
    return {z};
  };
  CHECK(work_of(long_chain, {x, y}) == Work{4, 3 * 4 * bytes});
}

TEST_CASE("clusters: a path that leaves and comes back is not closed", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0]);
    return {e * sum(e, Axes{0}) + in[0]};
  };
  CHECK(work_of(f, {matrix()}).n_launches == 3);
  // Two clusters, each of which would need the other.
  const auto crossed = [](const Tensors& in) -> Tensors {
    const Tensor a = exp(in[0]), b = sin(in[1]);
    const Tensor of_a = cos(b) * transpose(a), of_b = sqrt(a) * transpose(b);
    return {of_a, of_b};
  };
  CHECK(work_of(crossed, {matrix(), transpose(matrix(3))}).n_launches == 3);
  // The way back leads through a cluster, from its last op to what its first one makes.
  const auto through_cluster = [](const Tensors& in) -> Tensors {
    const Tensor first = exp(in[0]), maker = matmul(first, in[0]);
    const Tensor a = sin(in[0]), user = matmul(a, in[0]), last = first + user;
    return {last, a + maker};
  };
  const Tensors square{tests::drawn({5, 5}, 4)};
  const Program through = clustered(
      Program::of(Trace::without_values(through_cluster, avals_of(square), std::source_location::current())),
      tests::strides_of(square));
  CHECK(std::ranges::count(through.instructions(), &fused_op(), &Instruction::op) == 1);
  const Program program =
      Program::of(Trace::without_values(f, avals_of(Tensors{matrix()}), std::source_location::current()));
  std::vector<std::uint32_t> units(program.instructions().size());
  for (std::uint32_t i = 0; i < units.size(); ++i)
    units[i] = program.instructions()[i].op->op_class == OpClass::elementwise ? 0 : i;
  std::vector<ValueId> same_as(program.values().size());
  std::iota(same_as.begin(), same_as.end(), ValueId{0});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(scheduled(program, units, same_as)); }),
             HasId("cycle", {"engine::scheduled"}));
}

TEST_CASE("clusters: a lost user, other operands and another order are found", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor a = in[0] * in[1], b = a - in[0];
    return {sum(b, Axes{0}), exp(b)};
  };
  const Tensors in{matrix(), matrix(3)};
  const Tensors expected = f(in);
  const std::vector<Strides> strides = tests::strides_of(in);
  const Program program = clustered(
      Program::of(Trace::without_values(f, avals_of(in), std::source_location::current())), strides);
  const auto run = [&](const ProgramParts& parts) { return Plan(Program(parts), strides).run(in); };
  const auto is_cluster = [](const Instruction& each) { return each.op == &fused_op(); };
  const auto number = static_cast<std::size_t>(std::ranges::find_if(program.instructions(), is_cluster) -
                                               program.instructions().begin());
  REQUIRE(number < program.instructions().size());
  CHECK(same_bits(run(program.parts()), expected));
  const auto with_expr = [&](const auto& change) {
    ProgramParts parts = program.parts();
    AttrsPtr& attrs = parts.instructions[number].attrs;
    Expr expr = attrs_as<TileAttrs>(*attrs).programs[0]->expr();
    change(expr);
    attrs = make_attrs(TileAttrs{{std::make_shared<const cpu_backend::TileProgram>(std::move(expr))}});
    return parts;
  };
  const auto lost = with_expr([](Expr& expr) { expr.stores.pop_back(); });
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Program(lost)); }),
             HasId("wrong_results"));
  const auto turned = with_expr([](Expr& expr) {
    for (Expr::Code& code : expr.codes) {
      if (code.body->text.find("a - b") != std::string_view::npos) std::swap(code.in[0], code.in[1]);
    }
  });
  CHECK_FALSE(same_bits(run(turned), expected));
  ProgramParts other = program.parts();
  const std::uint32_t first = other.instructions[number].first_operand;
  std::swap(other.operands[first], other.operands[first + 1]);
  CHECK_FALSE(same_bits(run(other), expected));
  // What uses the cluster runs before it.
  ProgramParts early = program.parts();
  REQUIRE(early.instructions.size() > number + 1);
  std::swap(early.instructions[number], early.instructions[number + 1]);
  CHECK(error_of<core::InvalidArgument>([&] { static_cast<void>(Program(early)); }).id() != "nothing_thrown");
}

TEST_CASE("clusters: functions and effects stand between them", "[engine]") {
  int n_calls = 0;
  const Tensor x = (ones({n, m}, DType::f64) * 0.5).eval();
  const core::MapPtr map = core::pointwise(
      "count", n * m, [&](double t) { return ++n_calls, t; }, [](double) { return 1.0; });
  const auto f = [&](bool with_effect) {
    return [&map, with_effect](const Tensors& in) -> Tensors {
      const Tensor before = in[0] * 2.0;
      if (with_effect) static_cast<void>(external(map, reshape(in[0], {n * m})));
      return {engine::tanh(before)};
    };
  };
  CHECK(work_of(f(false), {x}).n_launches == 1);
  CHECK(work_of(f(true), {x}).n_launches == 2);
  n_calls = 0;
  static_cast<void>(plan_of(f(true), {x}, Level::O1)->run(Tensors{x}));
  CHECK(n_calls == n * m);
}

TEST_CASE("clusters: as many operands, outputs and ops as are allowed, and no more", "[engine]") {
  const auto sum_of = [](const Tensors& in) -> Tensors {
    Tensor total = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) total = total + in[i];
    return {total};
  };
  CHECK(work_of(sum_of, Tensors(12, matrix())).n_launches == 1);
  CHECK(work_of(sum_of, Tensors(13, matrix())).n_launches == 2);
  const auto outputs = [](int count) {
    return [count](const Tensors& in) -> Tensors {
      Tensors all{in[0]};
      for (int i = 0; i < count; ++i) all.push_back(exp(all.back()));
      return all;
    };
  };
  CHECK(work_of(outputs(4), {matrix()}).n_launches == 1);
  CHECK(work_of(outputs(5), {matrix()}).n_launches == 2);
  const auto ops = [](int count) {
    return [count](const Tensors& in) -> Tensors {
      Tensor x = in[0];
      for (int i = 0; i < count; ++i) x = -x * 0.5;
      return {x};
    };
  };
  CHECK(work_of(ops(128), {matrix()}).n_launches == 1);
  CHECK(work_of(ops(129), {matrix()}).n_launches == 2);
}

TEST_CASE("clusters: tiles that do not divide an array", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor a = in[0] * 2.0, b = sum(a);  // a is needed twice, so it is an array
    const Tensor c = a - b, d = exp(c * 0.01);
    return {d * a};
  };
  for (const Dim count : {1, 2, 63, 64, 65, 2047, 2048, 2049, 100003}) {
    INFO(count);
    const Tensor x = vector_of(count);
    CHECK(same_bits(plan_of(f, {x}, Level::O1)->run(Tensors{x}), f({x})));
  }
}

TEST_CASE("clusters: an output takes the place of an operand only where nobody reads that any more",
          "[engine]") {
  const auto check = [](const Function& f, const Tensors& inputs) {
    return same_bits(plan_of(f, inputs, Level::O1)->run(inputs), f(inputs));
  };
  const auto read_later = [](const Tensors& in) -> Tensors {
    const Tensor a = softmax(in[0]), e = exp(a), both = e + a;
    return {sum(e), sum(both)};
  };
  std::vector<double> counted(n * m);
  std::iota(counted.begin(), counted.end(), 0.0);
  CHECK(check(read_later, {sin(Tensor::from(counted, {n, m}))}));
  // An operand of fewer, larger elements has the bytes of the result.
  const auto narrow = [](const Tensors& in) -> Tensors {
    const Tensor scale = in[1] * 2.0;
    return {cast(transpose(greater(scale_shift(in[0], scale, in[1]), 0.0)), DType::f64)};
  };
  CHECK(check(narrow, {reshape(vector_of(8 * 3000), {8, 3000}), vector_of(3000)}));
}

TEST_CASE("clusters: a value with two gradients is 15 launches as recorded and 4 merged", "[engine]") {
  const auto loss = [](const Tensors& in) -> Tensors {
    return {mean(square(engine::tanh(in[0] * in[1] + in[2]) - in[0]))};
  };
  const Function f = [&](const Tensors& in) -> Tensors {
    const ValueAndGradients found = value_and_grad(loss, in);
    return {found.value, found.gradients[1], found.gradients[2]};
  };
  const Tensors inputs{full({64, 32}, 0.3).eval(), full({32}, 0.7).eval(), full({32}, -0.1).eval()};
  const Tensors right = f(inputs);
  for (const auto& [level, n_launches] : {std::pair{Level::O0, 15}, {Level::O1, 4}}) {
    const auto plan = plan_of(f, inputs, level);
    CHECK(plan->n_launches() == n_launches);
    CHECK(same_bits(plan->run(inputs), right));
  }
}
