// SPDX-License-Identifier: Apache-2.0
// Clusters that nobody waits for, such as the updates of many parameters, run as one launch.
#include "engine/compile/compile.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::same_bits;
using tests::work_of;

namespace {

constexpr int n_steps = 3;

Tensor waves(const Shape& shape, int seed, DType dtype = DType::f64) {
  std::vector<double> numbers(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::sin(0.37 * static_cast<double>(i) + seed);
  return cast(Tensor::from(numbers, shape), dtype).eval();
}

/// Parameters of many sizes, each followed by its gradient.
Tensors parameters(DType dtype) {
  Tensors result;
  int seed = 0;
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{64, 33}, Shape{3, 5, 2}, Shape{200, 101}, Shape{7}}) {
    for (int i = 0; i < 2; ++i) result.push_back(waves(shape, ++seed, dtype));
  }
  return result;
}

/// New values of parameters, and of something like a momentum.
Tensors updated(const Tensors& in) {
  Tensors result;
  for (std::size_t i = 0; i < in.size(); i += 2) {
    const Tensor momentum = in[i] * 0.75 + in[i + 1];
    result.push_back(in[i] - engine::tanh(momentum) * 0.125);
    result.push_back(momentum);
  }
  return result;
}

/// An array of the same size, made by a kernel that takes part in no cluster.
Tensor turned(const Tensor& x) {
  const Dim n = x.shape()[0];
  return concatenate(Tensors{slice(x, 0, n / 2, n), slice(x, 0, 0, n / 2)}, 0);
}

std::int64_t n_launches(const Function& f, const Tensors& in) { return work_of(f, in).n_launches; }

}  // namespace

TEST_CASE("tables: updates of parameters of all sizes are one launch with the bits of eager runs",
          "[engine]") {
  const tests::TemporaryFolder folder;
  HostJit jit(tests::jit_options(folder));
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensors in = parameters(dtype), right = updated(in);
    for (const int n : {1, 2, 3}) {
      const tests::Threads threads(n);
      const auto interpreted = plan_of(updated, in, Level::O1),
                 by_text = plan_of(updated, in, Level::O1, jit);
      CHECK(interpreted->n_launches() == 1);
      CHECK(same_bits(interpreted->run(in), right));
      CHECK(by_text->n_by_text() == 1);
      CHECK(same_bits(by_text->run(in), right));
    }
  }
  CHECK(jit.stats().n_made == 4);  // a text for arrays of a dtype and one for single numbers
}

TEST_CASE("tables: Adam updates forty parameters in one launch, each in its own place", "[engine]") {
  std::vector<Tensors> ends;
  for (const bool is_compiled : {false, true}) {
    InitialValues initial(3, DType::f32);
    std::vector<Layer> layers;
    for (int i = 0; i < 20; ++i) layers.emplace_back(Linear(3 + i, 4 + i, initial));
    const Sequential net(layers);
    const Adam adam(net, {.learning_rate = 0.01});
    REQUIRE(adam.trained().size() == 40);
    Tensors gradients;
    for (const Variable& each : adam.trained())
      gradients.push_back(waves(each.aval().shape, static_cast<int>(gradients.size()), DType::f32));
    const Function step = [&](const Tensors& in) -> Tensors {
      adam.step(in);
      return {};
    };
    const Compiled compiled = compile(step);
    for (int i = 0; i < n_steps; ++i) is_compiled ? compiled(gradients) : step(gradients);
    if (is_compiled) {
      CHECK(compiled.stats().n_launches == n_steps);  // which counts the steps, too
      CHECK(compiled.stats().n_undonated == 0);
    }
    Tensors& end = ends.emplace_back(values_of(adam.trained()));
    for (const auto& [name, tensor] : adam.state()) end.push_back(tensor);
    eval(end);
  }
  CHECK(same_bits(ends[0], ends[1]));
}

TEST_CASE("tables: nothing in them reads what another part writes", "[engine]") {
  const Tensor start = waves({300}, 1);
  std::vector<Tensors> ends;
  for (const bool is_compiled : {false, true}) {
    const Variable p("p", start), q("q", waves({40}, 2));
    const Function step = [&](const Tensors&) -> Tensors {
      const Tensor before = p.value();
      p.assign(engine::tanh(before * 2.0));
      q.assign(engine::sin(q.value() + slice(before, 0, 0, 40)));  // must read p as it was
      return {};
    };
    const Compiled compiled = compile(step);
    for (int i = 0; i < n_steps; ++i) is_compiled ? compiled({}) : step({});
    if (is_compiled) CHECK(compiled.stats().n_launches == n_steps);
    ends.push_back({p.value().eval(), q.value().eval()});
  }
  CHECK(same_bits(ends[0], ends[1]));

  const Tensors in = parameters(DType::f64);
  const Program program = plan_of(updated, in, Level::O1)->running();
  const auto is_table = [](const Instruction& each) { return each.op == &fused_op(); };
  const Instruction& table = *std::ranges::find_if(program.instructions(), is_table);
  const Kernel kernel = cpu_backend::TileProgram::kernel();
  REQUIRE(table.n_operands == 12);
  REQUIRE(table.n_results == 12);
  for (std::size_t operand = 0; operand < 12; ++operand) {
    int n_places = 0;
    for (std::size_t output = 0; output < 12; ++output) {
      const bool may = kernel.may_write_over(table.attrs.get(), operand, output);
      if (may) CHECK(operand / 2 == output / 2);
      n_places += may ? 1 : 0;
    }
    CHECK(n_places >= 1);
  }
}

TEST_CASE("tables: what is used, stands before a function or would raise the peak runs where it stood",
          "[engine]") {
  const auto changed = [](const Tensor& x) { return engine::tanh(x * 2.0); };
  const Tensors in{waves({400}, 1), waves({30, 20}, 2)};
  const auto both = [&](const Tensors& x) -> Tensors { return {changed(x[0]), changed(x[1])}; };
  CHECK(n_launches(both, in) == 1);
  const auto is_used = [&](const Tensors& x) -> Tensors {
    const Tensor first = changed(x[0]);
    return {first, turned(first), changed(x[1])};
  };
  CHECK(n_launches(is_used, in) == 3);
  const core::MapPtr map = core::pointwise(
      "twice", 400, [](double t) { return 2.0 * t; }, [](double) { return 2.0; });
  const auto with_function = [&](const Tensors& x) -> Tensors {
    const Tensor first = changed(x[0]);
    return {first, external(map, x[0]), changed(x[1])};
  };
  CHECK(n_launches(with_function, in) == 2);

  // Of arrays of 400 numbers two live at a time at most; a third one would have to wait for the last cluster.
  const Tensors two{waves({400}, 3), waves({400}, 4)};
  const auto waits = [&](const Tensors& x) -> Tensors {
    const Tensor a = turned(x[0]), b = turned(x[1]);
    return {changed(a), changed(b)};
  };
  CHECK(n_launches(waits, two) == 3);
  const auto raises = [&](const Tensors& x) -> Tensors {
    const Tensor first = changed(turned(x[0]));
    const Tensor b = turned(x[1]), c = turned(b);
    return {first, changed(c)};
  };
  const auto plan = plan_of(raises, two, Level::O1);
  CHECK(same_bits(plan->run(two), raises(two)));
  std::int64_t n_clusters = 0;
  for (const Instruction& each : plan->running().instructions()) n_clusters += each.op == &fused_op() ? 1 : 0;
  CHECK(n_clusters == 2);
}

TEST_CASE("tables: exchanged programs, a lost one and exchanged operands are found", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors {
    return {engine::tanh(x[0] * 2.0), engine::sin(x[1] + 0.5)};
  };
  const Tensors in{waves({50}, 1), waves({50}, 2)};
  const Program program = plan_of(f, in, Level::O1)->running();
  const auto strides = tests::strides_of(in);
  const auto with = [&](const auto& change) {
    ProgramParts parts = program.parts();
    for (Instruction& each : parts.instructions) {
      if (each.op != &fused_op()) continue;
      TileAttrs attrs = attrs_as<TileAttrs>(*each.attrs);
      change(attrs.programs, parts.operands);
      each.attrs = make_attrs(std::move(attrs));
    }
    return parts;
  };
  const auto run = [&](const ProgramParts& parts) { return Plan(Program(parts), strides).run(in); };
  CHECK(same_bits(run(with([](auto&, auto&) {})), f(in)));
  CHECK_FALSE(
      same_bits(run(with([](auto& programs, auto&) { std::swap(programs[0], programs[1]); })), f(in)));
  CHECK_FALSE(
      same_bits(run(with([](auto&, auto& operands) { std::swap(operands[0], operands[1]); })), f(in)));
  const ProgramParts lost = with([](auto& programs, auto&) { programs.pop_back(); });
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Program(lost)); }),
             HasId("wrong_results"));
}

TEST_CASE("tables: one plan serves batches of all extents", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors {
    return {engine::tanh(x[0] * 2.0), engine::sin(x[1] + 0.5)};
  };
  const auto inputs = [](Dim n) { return Tensors{waves({n, 5}, 1), waves({40}, 2)}; };
  const Compiled compiled = compile(f, {.breaks = Breaks::refused, .symbolic = {{.input = 0, .bound = 64}}});
  for (const Dim n : {Dim{3}, Dim{17}, Dim{64}, Dim{2}}) CHECK(same_bits(compiled(inputs(n)), f(inputs(n))));
  CHECK(compiled.stats().n_plans == 2);  // that of the first call, and the one whose memory all share
  CHECK(compiled.stats().n_launches == 4);
}
