// SPDX-License-Identifier: Apache-2.0
// Clusters that nobody waits for, such as the updates of many parameters, run as one launch.
#include "engine/compile/compile.hpp"
#include "engine/compile/control_plan.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <regex>

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

// ---- What they leave as it was
// -------------------------------------------------------------------------------

namespace {

/// Dense layers of these widths.
Sequential dense(const std::vector<Dim>& widths) {
  InitialValues initial(3, DType::f32);
  std::vector<Layer> layers;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    layers.emplace_back(Linear(widths[i - 1], widths[i], initial));
    layers.emplace_back(swish);
  }
  return Sequential(layers);
}

/// A network that Adam trains, with its step.
struct Training {
  explicit Training(const std::vector<Dim>& widths)
      : net(dense(widths)), adam(net, {.learning_rate = 0.01}) {}
  Sequential net;
  Adam adam;
  Tensors operator()(const Tensors& batch) const {
    const auto loss = [&] { return mean_squared_error(net(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, net.parameters());
    adam.step(gradients);
    return {value};
  }
};

/// Returns the budget that the message on one that is too small names.
std::size_t smallest_budget(const Function& f, const Tensors& in) {
  const Compiled compiled = compile(f, {.level = Level::O1, .budget = 1});
  const auto error = error_of<core::InvalidArgument>([&] { static_cast<void>(compiled(in)); });
  CHECK_THAT(error, HasId("budget_too_small"));
  std::smatch found;
  const std::string message = error.what();
  REQUIRE(std::regex_search(message, found, std::regex("at least ([0-9]+) bytes")));
  return std::stoull(found[1]);
}

}  // namespace

TEST_CASE("tables: budgets are those without them, and have tables where they have room", "[engine]") {
  const std::vector<Dim> widths(13, 256);
  const Tensors batch{waves({64, 256}, 1, DType::f32), waves({64, 256}, 2, DType::f32)};
  struct Run {
    CompileStats stats;
    Tensors end;
  };
  const auto run = [&](std::size_t budget) {
    const Training training(widths);
    const Compiled compiled = compile(training, {.level = Level::O1, .budget = budget});
    Tensors end;
    for (int i = 0; i < n_steps; ++i) end = compiled(batch);
    for (const Tensor& each : values_of(training.adam.trained())) end.push_back(each);
    eval(end);
    return Run{compiled.stats(), end};
  };
  const Run free = run(0);
  const std::size_t least = smallest_budget(Training(widths), batch);
  CHECK(least < free.stats.block_bytes / 2);  // gradients that wait for each other would fill the rest
  const Run tight = run(least), loose = run(free.stats.block_bytes);
  CHECK(tight.stats.block_bytes <= least);
  CHECK(loose.stats.block_bytes <= free.stats.block_bytes);
  CHECK(loose.stats.n_launches == free.stats.n_launches);
  CHECK(same_bits(tight.end, free.end));
  CHECK(same_bits(loose.end, free.end));

  // Sizes that do not fit in each other's places: a table would take more than most of these budgets.
  const Training other({16, 17, 18, 19, 20, 21, 22, 23, 24});
  const Tensors in{waves({3, 16}, 1, DType::f32), waves({3, 24}, 2, DType::f32)};
  const std::size_t from = smallest_budget(other, in);
  for (std::size_t budget = from; budget < 2 * from; budget += from / 8) {
    const Compiled compiled = compile(other, {.level = Level::O1, .budget = budget});
    compiled(in);
    CHECK(compiled.stats().block_bytes <= budget);
  }
}

TEST_CASE("tables: a part that reads a cell runs before its new value is written", "[engine]") {
  const auto changed = [](const Tensor& x) { return engine::tanh(x * 2.0); };
  using Step = std::function<Tensors(const Variable&, const Tensors&)>;
  const Step steps[] = {[&](const Variable& cell, const Tensors& x) -> Tensors {  // by another kernel
                          const Tensor first = changed(cell.value());
                          cell.assign(turned(x[0]));
                          return {first, changed(x[1])};
                        },
                        [&](const Variable& cell, const Tensors& x) -> Tensors {  // by another part
                          const Tensor first = changed(slice(cell.value(), 0, 0, 300));
                          cell.assign(changed(x[0]));
                          return {first, changed(x[1])};
                        },
                        [&](const Variable& cell, const Tensors& x) -> Tensors {  // by a part of its own size
                          const Tensor first = changed(cell.value());
                          cell.assign(cell.value() + x[0]);
                          return {first, changed(x[1])};
                        }};
  for (const Step& step : steps) {
    std::vector<Tensors> ends;
    std::vector<CompileStats> stats;
    for (const Level level : {Level::O0, Level::O1}) {
      const Variable cell("cell", waves({400}, 1), Variable::Role::state), plain("plain", waves({400}, 1));
      const Compiled compiled = compile([&](const Tensors& x) { return step(cell, x); }, {.level = level});
      for (int i = 0; i < n_steps; ++i) {
        const Tensors x{waves({400}, 5 + i), waves({30}, 6)};
        CHECK(same_bits(compiled(x), step(plain, x)));
        CHECK(same_bits(cell.value().eval(), plain.value().eval()));
      }
      CHECK(compiled.stats().n_undonated == 0);
      stats.push_back(compiled.stats());
    }
    CHECK(stats[1].n_launches < stats[0].n_launches);
  }
  const Variable cell("cell", waves({400}, 1), Variable::Role::state);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    const Tensor before = cell.value(), first = changed(before);
    cell.assign(changed(x[0]));
    return {first, changed(before + x[0])};  // so that the cell gets new memory anyway
  });
  for (int i = 0; i < n_steps; ++i) compiled({waves({400}, 5 + i)});
  CHECK(compiled.stats().n_launches == n_steps);
  CHECK(compiled.stats().n_undonated == n_steps);
}

TEST_CASE("tables: carries of loops keep their one place", "[engine]") {
  const auto changed = [](const Tensor& x) { return engine::tanh(x * 2.0); };
  const auto step = [&](const Tensors& carry, const Tensors& x) -> Tensors {
    const Tensor first = changed(carry[0]);
    return {turned(x[0]), first, changed(x[0])};
  };
  const Function loop = [&](const Tensors& in) -> Tensors {
    Scanned all = scan(step, {in[0]}, {in[1]});
    all.ys.insert(all.ys.begin(), all.carry[0]);
    return all.ys;
  };
  const Tensors in{waves({40}, 1), waves({5, 40}, 2)};
  for (const Level level : {Level::O0, Level::O1}) {
    const auto plan = plan_of(loop, in, level);
    CHECK(same_bits(plan->run(in), loop(in)));
    const auto& launches = plan->lowered().launches;
    const auto is_loop = [](const Launch& each) { return each.control != nullptr; };
    REQUIRE(std::ranges::count_if(launches, is_loop) == 1);
    const ControlPlan& control = *std::ranges::find_if(launches, is_loop)->control;
    REQUIRE(control.loop().carries.size() == 1);
    CHECK(control.loop().carries[0].second == ControlPlan::Carry::none);
  }
}

// ---- Borders
// -------------------------------------------------------------------------------------------------

TEST_CASE("tables: none goes past a branch or a loop", "[engine]") {
  const auto changed = [](const Tensor& x) { return engine::tanh(x * 2.0); };
  const Tensors in{waves({400}, 1), waves({5, 30}, 2), cast(waves({1}, 1), DType::b8).eval()};
  const auto behind = [&](const Function& border) -> Function {
    return [&changed, border](const Tensors& x) -> Tensors {
      Tensors result{changed(x[0]), changed(x[1])};
      for (const Tensor& each : border(x)) result.push_back(each);
      result.push_back(changed(x[0] + 1.0));
      result.push_back(changed(x[1] + 1.0));
      return result;
    };
  };
  const Function branch = [](const Tensors& x) -> Tensors {
    const Function yes = [](const Tensors&y) -> Tensors { return {turned(y[0])}; },
                   no = [](const Tensors&y) -> Tensors { return {y[0]}; };
    return cond(reshape(x[2], {}), yes, no, {x[0]});
  };
  const Function loop = [](const Tensors& x) -> Tensors {
    const auto step = [](const Tensors& carry, const Tensors& y) -> Tensors {
      return {turned(carry[0]) + y[0]};
    };
    return scan(step, {slice(x[0], 0, 0, 30)}, {x[1]}).carry;
  };
  const Function none = [](const Tensors&) -> Tensors { return {}; };
  const auto tables_of = [&](const Function& border) {
    const Function f = behind(border);
    const auto plan = plan_of(f, in, Level::O1);
    CHECK(same_bits(plan->run(in), f(in)));
    std::vector<std::size_t> sizes;
    for (const Instruction& each : plan->running().instructions()) {
      if (each.op == &fused_op()) sizes.push_back(attrs_as<TileAttrs>(*each.attrs).programs.size());
    }
    return sizes;
  };
  CHECK(tables_of(none) == std::vector<std::size_t>{4});
  CHECK(tables_of(branch) == std::vector<std::size_t>{2, 2});
  CHECK(tables_of(loop) == std::vector<std::size_t>{2, 2});
}

TEST_CASE("tables: two devices have one each", "[engine]") {
  constexpr Device first{Device::Kind::cpu, 0}, second{Device::Kind::cpu, 1};
  const auto changed = [](const Tensor& x) { return engine::tanh(x * 2.0); };
  const Function f = [&](const Tensors& x) -> Tensors {
    Tensors result;
    for (const Tensor& each : x) result.push_back(changed(each));
    return result;
  };
  Tensors in;
  for (const Device& device : {first, second, first, second, second})
    in.push_back(copy_to(waves({20 + static_cast<Dim>(in.size())}, 1), device).eval());
  const auto plan = plan_of(f, in, Level::O1);
  CHECK(plan->n_launches() == 2);
  const Tensors result = plan->run(in);
  CHECK(same_bits(result, f(in)));
  for (std::size_t i = 0; i < in.size(); ++i) CHECK(result[i].device() == in[i].device());
}

namespace {

std::atomic<std::int64_t> most_rows{0};  // of a call of the function below

void note_rows(std::int64_t, std::int64_t n, std::int64_t, const TilePlace*, const TilePlace*) {
  std::int64_t most = most_rows;
  while (n > most && !most_rows.compare_exchange_weak(most, n)) continue;
}

}  // namespace

TEST_CASE("tables: threads share long rows beside many plain elements", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = engine::exp(x[0]);
    return {y - sum(engine::tanh(y) * y, Axes{1}, Keep::yes), x[1] * 0.5 + 1.0};
  };
  const Tensors in{waves({256, 500}, 1), waves({400000}, 2)};
  const tests::Threads threads(2);
  ProgramParts parts = plan_of(f, in, Level::O1)->running().parts();
  for (Instruction& each : parts.instructions) {
    if (each.op != &fused_op()) continue;
    TileAttrs attrs = attrs_as<TileAttrs>(*each.attrs);
    REQUIRE(attrs.programs.size() == 2);
    REQUIRE(attrs.programs[0]->expr().row == 500);
    attrs.programs[0] =
        std::make_shared<const cpu_backend::TileProgram>(attrs.programs[0]->expr(), note_rows);
    each.attrs = make_attrs(std::move(attrs));
  }
  most_rows = 0;
  static_cast<void>(Plan(Program(parts), tests::strides_of(in)).run(in));
  CHECK(most_rows > 0);
  CHECK(most_rows <= 256 / 4);  // two threads take eight pieces of equal work
}

TEST_CASE("tables: parts with rows run beside plain ones on several threads", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = engine::exp(x[0]);
    return {y - sum(engine::tanh(y) * y, Axes{1}, Keep::yes), engine::tanh(x[1] * 2.0),
            engine::tanh(x[2]) - sum(x[2], Axes{1}, Keep::yes)};
  };
  const Tensors in{waves({37, 500}, 1), waves({20000}, 2), waves({900, 7}, 3)};
  const tests::TemporaryFolder folder;
  HostJit jit(tests::jit_options(folder));
  for (const int n : {1, 2, 3}) {
    const tests::Threads threads(n);
    for (HostJit* const each : {&HostJit::none(), &jit}) {
      const auto plan = plan_of(f, in, Level::O1, *each);
      REQUIRE(plan->n_launches() == 1);
      const auto& programs = attrs_as<TileAttrs>(*plan->lowered().launches[0].attrs).programs;
      std::vector<Dim> rows;
      for (const cpu_backend::TileProgramPtr& program : programs) rows.push_back(program->expr().row);
      CHECK(rows == std::vector<Dim>{500, 1, 7});
      CHECK(same_bits(plan->run(in), f(in)));
    }
  }
}
