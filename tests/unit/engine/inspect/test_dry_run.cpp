// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/compile/cost.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/memory/arena.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/module.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/tuple.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/subgraph.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/inspect/made_up_rates.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <nlohmann/json.hpp>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

/// Returns the bytes that a call adds to what is in use, after one that makes the plan.
std::size_t measured(const Compiled& f, const Tensors& inputs) {
  static_cast<void>(f(inputs));
  Arena& arena = Arena::of(default_device());
  const std::size_t before = arena.stats().in_use;
  arena.reset_peak();
  const Tensors results = f(inputs);
  return arena.stats().peak - before;
}

/// A network that Adam trains, with its step.
struct Training {
  InitialValues initial{7};
  Sequential net{Linear(3, 32, initial), swish, Linear(32, 1, initial)};
  Adam adam{net, {.learning_rate = 1e-2}};
  Tensors operator()(const Tensors& batch) const {
    const auto loss = [&] { return mean_squared_error(net(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, net.parameters());
    adam.step(gradients);
    return {value};
  }
};

}  // namespace

namespace {

std::size_t bytes_in_use() { return Arena::of(default_device()).stats().in_use; }

/// Makes numbers until the engine lets go of those that no tensor holds, but for the last one.
void forget_unused_numbers() {
  static double next = 1e6;
  for (std::size_t before = bytes_in_use(), now = before; now >= before; now = bytes_in_use()) {
    before = now;
    static_cast<void>(scalar(++next, DType::f64));
  }
}

struct Peaks {
  DryRun announced;
  std::size_t of_call = 0;  ///< added by a second call
  std::size_t whole = 0;    ///< all that is in use for the network: inputs, constants, block, results
};

/// Runs one of the networks with all that it needs made after a look at what is in use.
Peaks peaks_of(std::size_t number, DType dtype, Level level) {
  forget_unused_numbers();
  const std::size_t before = bytes_in_use();
  const tests::SampleNetwork network = tests::SampleNetworks(dtype).all().at(number);
  const Compiled compiled = compile(network.f, {.level = level});
  static_cast<void>(compiled(network.inputs));
  forget_unused_numbers();
  Peaks result;
  result.of_call = measured(compiled, network.inputs);
  result.whole = Arena::of(default_device()).stats().peak - before;
  result.announced = dry_run(network.f, avals_of(network.inputs), {.level = level, .times = Times::none});
  return result;
}

/// Returns the real operations of a program as the rows count them.
double flops_in(const Program& program) {
  double sum = 0.0;
  for (const Instruction& each : program.instructions()) {
    if (each.op->view != nullptr) continue;
    std::vector<const Aval*> in;
    for (const ValueId id : program.operands(each)) in.push_back(&program.values()[id].aval);
    const Aval& out = program.values()[each.first_result].aval;
    sum += flops_of(*each.op, each.attrs.get(), in, out, each.where);
  }
  return sum;
}

}  // namespace

TEST_CASE("dry run: all memory of a call is announced to the byte, for thirty networks", "[engine]") {
  const Level level = GENERATE(Level::O0, Level::O1);
  const DType dtype = GENERATE(DType::f32, DType::f64);
  std::size_t n_constants = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    CAPTURE(i, static_cast<int>(level));
    const Peaks peaks = peaks_of(i, dtype, level);
    CHECK(peaks.announced.n_functions == 0);
    CHECK(peaks.announced.peak.results == peaks.of_call);
    CHECK(peaks.announced.peak.total() == peaks.whole);
    n_constants += peaks.announced.peak.constants;
  }
  CHECK(n_constants > 0);
}

TEST_CASE("dry run: work is what is counted in plans and in eager runs, for thirty networks", "[engine]") {
  const DType dtype = GENERATE(DType::f32, DType::f64);
  int n_of_kernels = 0;
  for (const tests::SampleNetwork& each : tests::SampleNetworks(dtype).all()) {
    CAPTURE(each.name);
    for (const Level level : {Level::O0, Level::O1}) {
      CAPTURE(static_cast<int>(level));
      const DryRun announced = dry_run(each.f, avals_of(each.inputs), {.level = level, .times = Times::none});
      const OpProfile work = total_of(announced.ops);
      const auto plan = tests::plan_of(each.f, each.inputs, level);
      CHECK(announced.n_launches == plan->n_launches());
      CHECK(work.calls == announced.n_launches);
      const auto is_kernel = [](const Instruction& instruction) { return !instruction.op->run; };
      if (std::ranges::all_of(plan->running().instructions(), is_kernel)) {
        ++n_of_kernels;
        CHECK(work.bytes == static_cast<double>(tests::work_of(*plan).bytes));
        CHECK(work.flops == flops_in(plan->running()));
      }
      if (level == Level::O1) continue;
      // Op by op, the same function also computes what it makes of numbers alone, which a program folds.
      const Subgraph body(each.f, avals_of(each.inputs), {});
      const OpProfile eager = Profile::of([&] { eval(body(each.inputs)); }).total();
      CHECK(work.flops <= eager.flops);
      CHECK(work.flops >= eager.flops - 12.0);
      CHECK(work.bytes <= eager.bytes);
      CHECK(work.bytes >= eager.bytes - (dtype == DType::f32 ? 1100.0 : 2200.0));
    }
  }
  CHECK(n_of_kernels == 2 * 28);  // the other two have calls of checkpoints
}

TEST_CASE("dry run: each part of the memory of a training is announced to the byte", "[engine]") {
  const Level level = GENERATE(Level::O0, Level::O1);
  const Training training;
  const Tensors batch{Tensor::from(std::vector<float>(150, 0.5F), {50, 3}).eval(),
                      Tensor::from(std::vector<float>(50, 0.25F), {50, 1}).eval()};
  const DryRun announced = dry_run(training, avals_of(batch), {.level = level, .times = Times::none});
  const Compiled step = compile(training, {.level = level});
  static_cast<void>(step(batch));  // moments, which begin as one shared zero, get arrays

  constexpr std::size_t n_numbers = 3;  // of Adam, fed to every run
  const std::size_t of_numbers = n_numbers * Arena::taken_by(4);
  CHECK(announced.peak.arguments == Arena::taken_by(600) + Arena::taken_by(200) + of_numbers);
  CHECK(announced.peak.results == Arena::taken_by(4));  // the loss; cells take their new values in place
  CHECK(measured(step, batch) == announced.peak.results + of_numbers);
  CHECK(announced.peak.block == Arena::taken_by(step.stats().block_bytes));
  std::size_t of_parameters = 0;
  for (const Variable& each : training.net.parameters())
    of_parameters += Arena::taken_by(each.value().node().buffer->bytes());
  CHECK(announced.peak.parameters == of_parameters);
  CHECK(announced.peak.state == 2 * of_parameters + Arena::taken_by(8));  // two moments, the number of steps
  CHECK(announced.peak.total() == announced.peak.arguments + 3 * of_parameters + Arena::taken_by(8) +
                                      announced.peak.constants + announced.peak.block +
                                      announced.peak.results);
  CHECK(announced.n_launches * 3 == step.stats().n_launches);
}

TEST_CASE("dry run: nothing is computed, and cells stay as they were", "[engine]") {
  const Variable weights("w",
                         exp(Tensor::from(std::vector<double>{1, 2}, {2})) * 3.0);  // nobody has asked for it
  const auto f = [&](const Tensors& x) -> Tensors {
    const Tensor y = matmul(x[0], weights.value());
    weights.assign(weights.value() + 1.0);
    return {y};
  };
  const std::vector<Aval> arguments{{{100'000'000, 2}, DType::f64, default_device()}};
  Arena& arena = Arena::of(default_device());
  arena.reset_peak();
  const std::size_t before = arena.stats().in_use;
  const auto rates = std::make_shared<const MachineRates>(
      tests::made_up_rates(core::threads(), MachineKey::of_process().processor));
  const DryRun announced = dry_run(f, arguments, {.most_timed_bytes = 1000, .machine = rates});
  CHECK(arena.stats().peak - before < 10'000);
  CHECK(weights.value().node().buffer.get() == nullptr);
  CHECK(announced.peak.arguments >= 1'600'000'000);
  CHECK(announced.peak.results >= 800'000'000);
  CHECK(announced.n_untimed == 0);
  CHECK(announced.n_by_rates == 1);
  const auto product = std::ranges::find(announced.ops, "dot_general f64", &OpProfile::op);
  CHECK(product->seconds == Approx(4e8 * 1e-9 / core::threads()).epsilon(1e-4));
  CHECK(announced.seconds() > product->seconds);
}

TEST_CASE("dry run: by rates, every launch has the time of its work", "[engine]") {
  const auto rates = std::make_shared<const MachineRates>(tests::made_up_rates());
  const tests::ThreadCount one(1);
  const auto f = [](const Tensors& x) -> Tensors { return {exp(matmul(x[0], x[1])) / 3.0}; };
  const auto avals = [](Dim n) { return std::vector<Aval>(2, Aval{{n, n}, DType::f64, default_device()}); };
  const auto announced = [&](Dim n, Level level) {
    return dry_run(f, avals(n), {.level = level, .times = Times::rates, .machine = rates});
  };
  constexpr double ns = 1e-9, launch = 1e-6;
  for (const double n : {10.0, 20.0}) {
    const double of_ops = (2.0 * n * n * n + n * n + 4.0 * n * n) * ns;
    const DryRun joined = announced(static_cast<Dim>(n), Level::O1);
    CHECK(joined.n_launches == 1);
    CHECK(joined.n_by_rates == 1);
    CHECK(joined.n_untimed == 0);
    CHECK(joined.seconds() == Approx(of_ops + launch));
    const DryRun apart = announced(static_cast<Dim>(n), Level::O0);
    CHECK(apart.n_by_rates == 3);
    CHECK(apart.seconds() == Approx(of_ops + 3.0 * launch));
  }
  CHECK(announced(10'000, Level::O1).seconds() == Approx(2e12 * ns + 5e8 * ns + launch));  // nothing runs
  const DryRun once = announced(10, Level::O1);
  CHECK(once.machine == rates->machine.text());
  CHECK(once.text().find("all launches by the rates of a processor, 1 thread(s), avx2") != std::string::npos);
  const auto json = nlohmann::json::parse(once.json());
  CHECK(json["machine"] == rates->machine.text());
  CHECK(json["n_by_rates"] == 1);

  const auto loop = [&](const Tensors& x) {
    return scan([](const Tensors& carry, const Tensors&) -> Tensors { return {carry[0] / 3.0}; }, {x[0]},
                {x[1]})
        .carry;
  };
  const std::vector<Aval> of_loop{{{1000}, DType::f64, default_device()},
                                  {{50, 1}, DType::f64, default_device()}};
  const DryRun looped = dry_run(loop, of_loop, {.times = Times::rates, .machine = rates});
  CHECK(looped.n_by_rates == 50);
  CHECK(looped.seconds() == Approx(50.0 * (4e3 * ns + launch)));
}

TEST_CASE("dry run: what cannot be timed takes the time of rates, if they have one", "[engine]") {
  const tests::ThreadCount one(1);
  const auto rates =
      std::make_shared<MachineRates>(tests::made_up_rates(1, MachineKey::of_process().processor));
  const std::vector<Aval> matrix{{{64, 64}, DType::f32, default_device()}};
  const auto f = [](const Tensors& x) -> Tensors {
    return {cholesky(x[0])};
  };  // refuses matrices that are not positive definite
  const DryRun without = dry_run(f, matrix, {.machine = rates});
  CHECK(without.n_untimed == without.n_launches);
  CHECK(without.n_by_rates == 0);
  CHECK(without.text().find("time:") == std::string::npos);
  rates->alone.kinds["opaque f32"] = 1e9;
  rates->alone.kinds["movement f32"] = 1e9;
  const DryRun with = dry_run(f, matrix, {.machine = rates});
  CHECK(with.n_untimed == 0);
  CHECK(with.n_by_rates > 0);
  const DryRun none = dry_run(f, matrix, {.times = Times::none});
  CHECK(none.n_untimed == none.n_launches);
  CHECK(none.seconds() == 0.0);
}

TEST_CASE("dry run: rates of no use here are refused", "[engine]") {
  const tests::ThreadCount one(1);
  const auto f = [](const Tensors& x) -> Tensors { return {x[0] + 1.0}; };
  const std::vector<Aval> scalar{{{}, DType::f64, default_device()}};
  const auto refused = [&](int n_threads, Times times) {
    const auto rates = std::make_shared<const MachineRates>(tests::made_up_rates(n_threads));
    return error_of<core::InvalidArgument>(
        [&] { static_cast<void>(dry_run(f, scalar, {.times = times, .machine = rates})); });
  };
  CHECK_THAT(refused(1, Times::none), HasId("wrong_rates", {"a processor, 1 thread(s), avx2"}));
  CHECK_THAT(refused(2, Times::rates),
             HasId("wrong_rates", {"rates for 1 thread(s)", "a processor, 2 thread(s), avx2"}));
  CHECK_THAT(refused(1, Times::kernels), HasId("wrong_rates", {"a processor, 1 thread(s), avx2"}));
  const auto fits = std::make_shared<const MachineRates>(tests::made_up_rates());
  CHECK(dry_run(f, scalar, {.times = Times::rates, .machine = fits}).seconds() > 0.0);
}

TEST_CASE("dry run: work is that of the ops, and captured arrays are constants", "[engine]") {
  const Tensor captured = Tensor::from(std::vector<double>(600, 0.5), {20, 30});
  const auto f = [&](const Tensors& x) -> Tensors { return {exp(matmul(x[0], captured))}; };
  const DryRun announced = dry_run(f, std::vector<Aval>{{{10, 20}, DType::f64, default_device()}});
  CHECK(announced.n_launches == 1);  // what is behind a product runs with it
  CHECK(announced.n_untimed == 0);
  CHECK(announced.peak.constants == Arena::taken_by(4800));
  const OpProfile all = total_of(announced.ops);
  CHECK(all.flops == 2 * 10 * 20 * 30 + 300);
  CHECK(all.bytes == 8 * (200 + 600 + 300));
  CHECK(all.calls == 1);
  CHECK(all.seconds > 0.0);
  CHECK(announced.text().find("dot_general with 1 op f64") != std::string::npos);
  CHECK(announced.json().find("\"n_launches\": 1") != std::string::npos);
}

TEST_CASE("dry run: a launch is named with the dtypes of all its operands", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors { return {select(x[0], x[1], x[2]) * 2.0}; };
  const auto aval = [](DType dtype) { return Aval{{64}, dtype, default_device()}; };
  const std::string chosen =
      dry_run(f, std::vector<Aval>{aval(DType::b8), aval(DType::f32), aval(DType::f32)}).text();
  CHECK(chosen.find(" b8, f32") != std::string::npos);
  const auto to_double = [](const Tensors& x) -> Tensors { return {cast(x[0], DType::f64)}; };
  CHECK(dry_run(to_double, std::vector<Aval>{aval(DType::f32)}).text().find("cast f32, f64") !=
        std::string::npos);
}

TEST_CASE("dry run: the largest workspace is that of one launch, and part of the block", "[engine]") {
  const auto of = [](const Function& f) {
    return dry_run(f, std::vector<Aval>{{{64, 64}, DType::f64, default_device()}}, {.times = Times::none})
        .peak;
  };
  const auto sums = of([](const Tensors& x) -> Tensors { return {cumulative_sum(transpose(x[0]), 0)}; });
  CHECK(sums.workspace > 0);
  CHECK(sums.workspace <= sums.block);
  const auto twice = of([](const Tensors& x) -> Tensors {
    const Tensor y = cumulative_sum(transpose(x[0]), 0);
    return {cumulative_sum(transpose(y), 0)};
  });
  CHECK(twice.workspace == sums.workspace);
  CHECK(of([](const Tensors& x) -> Tensors { return {x[0] + 1.0}; }).workspace == 0);
}

TEST_CASE("dry run: what loops and branches need is counted, of a branch the longer one", "[engine]") {
  const auto f = [](const Tensors& x) {
    const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors {
      return cond(
          greater(sum(carry[0]), 0.0), [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; },
          [](const Tensors& in) -> Tensors { return {in[0]}; }, {carry[0], now[0]});
    };
    return scan(step, {x[0]}, {x[1]}).carry;
  };
  const Tensors inputs{(ones({8, 8}) + 0.0).eval(), (ones({5, 8, 8}) + 0.0).eval()};
  const DryRun announced = dry_run(f, avals_of(inputs), {.level = Level::O0});
  CHECK(announced.n_functions == 0);
  CHECK(announced.n_launches == 5 * 3);
  CHECK(announced.n_untimed == 0);
  CHECK(total_of(announced.ops).calls == 5 * 3);
  CHECK(total_of(announced.ops).flops == 5 * (2 * 8 * 8 * 8 + 64 + 1));
  const Compiled compiled = compile(f, {.level = Level::O0});
  CHECK(announced.peak.results == measured(compiled, inputs));
  CHECK(announced.peak.block == Arena::taken_by(compiled.stats().block_bytes));
}

TEST_CASE("dry run: calls of simulations are counted", "[engine]") {
  const core::MapPtr map = core::pointwise(
      "twice", 10, [](double t) { return 2.0 * t; }, [](double) { return 2.0; });
  const auto f = [&](const Tensors& x) -> Tensors { return {external(map, x[0])}; };
  const DryRun announced = dry_run(f, std::vector<Aval>{{{10}, DType::f64, default_device()}});
  CHECK(announced.n_functions == 1);
  CHECK(announced.text().find("not counted") != std::string::npos);
}

TEST_CASE("dry run: a function that reads values is refused with the line", "[engine]") {
  const std::vector<Aval> scalar{{{}, DType::f64, default_device()}};
  const auto reads = [](const Tensors& x) -> Tensors { return {x[0].item<double>() > 0.0 ? x[0] : -x[0]}; };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(dry_run(reads, scalar)); }),
             HasId("no_values_while_tracing", {"select", "(test_dry_run.cpp:"}));
}
