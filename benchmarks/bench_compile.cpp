// SPDX-License-Identifier: Apache-2.0
// Compiled functions of sizes that bench_engine has not: a training step of a language model, with the memory
// that it takes, also within budgets of bytes, and the time that a plan takes to make. Sample run:
// OMP_NUM_THREADS=1 bench_compile [gpt | budgets | loops | decoding | batches | plans | longplan | longprod]
#include "benchmarks/gpt.hpp"
#include "benchmarks/mt_vae.hpp"
#include "benchmarks/results.hpp"
#include "engine/compile/plan.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/random.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/memory/arena.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>

using namespace lodestone;
using namespace lodestone::engine;
using bench::GptOptions;

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_seconds(int n, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < n; ++i) seconds.push_back(seconds_of(work));
  std::nth_element(seconds.begin(), seconds.begin() + n / 2, seconds.end());
  return seconds[static_cast<std::size_t>(n / 2)];
}

/// Lets the system forget the most memory that this process has held. source: proc(5), clear_refs
void forget_largest_memory() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

/// A step of Adam on words that follow no rule.
class GptStep {
 public:
  explicit GptStep(const GptOptions& options, Dim batch, InitialValues initial = InitialValues(5))
      : net_(options, initial),
        adam_(net_),
        text_(words(options, batch, 0)),
        next_(words(options, batch, 1)) {}

  [[nodiscard]] double n_parameters() const {
    Dim n = 0;
    for (const Variable& each : net_.parameters()) n += each.aval().shape.count();
    return static_cast<double>(n);
  }
  /// Returns the loss before the update, without arguments.
  [[nodiscard]] Function step() const {
    return [this](const Tensors&) -> Tensors {
      const auto [loss, gradients] =
          value_and_grad([&] { return cross_entropy(net_(text_), next_); }, net_.parameters());
      adam_.step(gradients);
      return {loss};
    };
  }
  /// Runs it op by op.
  void run() const {
    Tensors all = step()({});
    for (const Stateful* each : {static_cast<const Stateful*>(&net_), static_cast<const Stateful*>(&adam_)})
      for (const Tensor& value : values_of(each->cells())) all.push_back(value);
    eval(all);
  }

 private:
  static Tensor words(const GptOptions& options, Dim batch, std::uint64_t stream) {
    const core::Philox random(3, stream);
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(batch * options.words));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<std::int32_t>(random.uniform(i) * static_cast<double>(options.vocabulary));
    return Tensor::from(numbers, {batch, options.words});
  }
  bench::Gpt net_;
  Adam adam_;
  Tensor text_, next_;
};

constexpr std::array<std::pair<const char*, std::optional<Level>>, 3> ways{
    {{"O1", Level::O1}, {"O0", Level::O0}, {"op by op", {}}}};

/// Measures the time of a step and the memory that this process holds more for it than before the network was
/// made.
void measure_gpt(bench::Results& results, std::optional<DType> product) {
  const std::string name =
      fmt::format("GPT step, 6 layers of 384, 8 x 256 words, f32{}",
                  product ? fmt::format(", products in {}", core::name_of(*product)) : "");
  for (const auto& [way, level] : ways) {
    Arena::of(default_device()).trim();
    forget_largest_memory();
    const double before = core::process_memory().resident;
    const GptStep gpt({.product = product}, 8);
    const auto add = [&](std::string_view what, const char* unit, double value) {
      results.add({name, fmt::format("{}{}", way, what), unit, value, {}, {}, {}});
    };
    if (level) {
      const Compiled step = compile(gpt.step(), {.level = *level, .breaks = Breaks::refused});
      step({});
      step({});
      add("", "s", median_seconds(5, [&] { step({}); }));
      add(": block", "MB", 1e-6 * static_cast<double>(step.stats().block_bytes));
    } else {
      gpt.run();
      add("", "s", median_seconds(5, [&] { gpt.run(); }));
      results.add({name, "parameters", "", gpt.n_parameters(), {}, {}, {}});
    }
    add(": memory of the process", "MB", 1e-6 * (core::process_memory().largest - before));
  }
}

/// Measures the time and memory of a step within shares of the block that it takes without a budget.
void measure_budgets_of_gpt(bench::Results& results) {
  const std::string name = "GPT step, 6 layers of 384, 8 x 256 words, f32, O1 within a budget";
  const auto step_within = [&](std::size_t budget, std::string_view word) {
    const GptStep gpt({}, 8);
    const Compiled step = compile(gpt.step(), {.breaks = Breaks::refused, .budget = budget});
    const double first = seconds_of([&] { step({}); });
    const double seconds = median_seconds(3, [&] { step({}); });
    results.add({name, std::string(word), "s", seconds, {}, {}, {}});
    results.add({name,
                 fmt::format("{}: block", word),
                 "MB",
                 1e-6 * static_cast<double>(step.stats().block_bytes),
                 {},
                 {},
                 {}});
    results.add({name, fmt::format("{}: record and plan", word), "s", first - seconds, {}, {}, {}});
    return step.stats().block_bytes;
  };
  const std::size_t all = step_within(0, "no budget");
  for (const int percent : {75, 50, 35}) {
    step_within(all / 100 * static_cast<std::size_t>(percent), fmt::format("{} %", percent));
  }
}

/// Products one after the other.
struct Chain {
  int n, segment;  ///< a segment is what a user would checkpoint
  Dim width;
  DType dtype;
  int n_runs;  ///< 0: it is recorded and planned, and does not run
};

/// Measures a chain of n products and its gradient: within twice the bound of 2 sqrt(n) arrays, and with
/// segments of sqrt(n) layers that the user checkpoints. source: Chen et al. 2016, arXiv:1604.06174
void measure_budget_of_chain(bench::Results& results, const Chain& chain) {
  const std::string name = fmt::format("chain of {} products of {}, {}, and its gradient", chain.n,
                                       chain.width, core::name_of(chain.dtype));
  const Function layers = [chain](const Tensors& in) -> Tensors {
    Tensor x = in[0];
    for (int i = 0; i < chain.segment; ++i) x = tanh(matmul(x, in[1]));
    return {x};
  };
  const auto gradient_of = [chain](Function part) -> Function {
    const Function loss = [chain, part = std::move(part)](const Tensors& in) -> Tensors {
      Tensor x = in[0];
      for (int i = 0; i < chain.n / chain.segment; ++i) x = part({x, in[1]})[0];
      return {sum(square(x))};
    };
    return [loss](const Tensors& in) { return value_and_grad(loss, in).gradients; };
  };
  const Tensor x = (bench::normals({chain.width, chain.width}, 3, chain.dtype) *
                    (1.0 / std::sqrt(static_cast<double>(chain.width))))
                       .eval();
  const auto measure = [&](const std::string& word, const Function& f, std::size_t budget,
                           std::optional<double> limit) {
    std::optional<Plan> plan;
    const double to_plan = seconds_of([&] {
      const std::array avals{x.aval(), x.aval()};
      const std::array strides{x.node().look.strides, x.node().look.strides};
      plan.emplace(Program::of(Trace::without_values(f, avals, std::source_location::current())), strides,
                   Level::O1, std::vector<Donor>(), HostJit::none(), budget);
    });
    results.add({name, word + ": record and plan", "s", to_plan, {}, {}, {}});
    const double arrays = static_cast<double>(plan->block_bytes()) / static_cast<double>(x.aval().bytes());
    results.add({name, word + ": block", "arrays", arrays, limit, {}, {}});
    results.add({name, word + ": launches", "", static_cast<double>(plan->n_launches()), {}, {}, {}});
    if (chain.n_runs == 0) return 0.0;
    const Compiled compiled = compile(f, {.breaks = Breaks::refused, .budget = budget});
    compiled({x, x});
    const double seconds = median_seconds(chain.n_runs, [&] { compiled({x, x}); });
    results.add({name, word, "s", seconds, {}, {}, {}});
    return seconds;
  };
  if (chain.n < 1000) measure("no budget", gradient_of(layers), 0, chain.n + 4.0);
  const double by_hand = measure("checkpoints by hand", gradient_of(checkpoint(layers)), 0, {});
  const double limit = 4.0 * std::sqrt(chain.n);
  const double within = measure("twice the bound", gradient_of(layers),
                                static_cast<std::size_t>(limit) * x.aval().bytes(), limit);
  if (chain.n_runs > 0)
    results.add({name, "twice the bound to checkpoints by hand", "", within / by_hand, 1.5, {}, {}});
}

/// Measures how long gradients of micro-batches that add up take to record and plan: of one, and of 32 in a
/// loop or as calls of one function.
void measure_micro_batches(bench::Results& results) {
  const std::string name = "plan of gradients of 12 layers of 64, micro-batches of 8";
  constexpr int n_layers = 12;
  const Function loss = [](const Tensors& in) -> Tensors {
    Tensor x = in[0];
    for (int i = 0; i < n_layers; ++i) x = tanh(matmul(x, in[1]) + in[2]);
    return {mean(square(x))};
  };
  const Function gradients = [loss](const Tensors& in) -> Tensors {
    const Tensor &x = in[0], &w = in[1], &b = in[2];
    const auto of_parameters = [&](const Tensors& at) { return loss({x, at[0], at[1]}); };
    return value_and_grad(of_parameters, {w, b}).gradients;
  };
  const Function by_loop = [gradients](const Tensors& in) -> Tensors {
    const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
      const Tensors next = gradients({now[0], in[1], in[2]});
      return {carry[0] + next[0], carry[1] + next[1]};
    };
    return scan(step, {in[1] * 0.0, in[2] * 0.0}, {in[0]}).carry;
  };
  const auto by_calls = [gradients](Calls calls) -> Function {
    return [gradients, calls](const Tensors& in) -> Tensors {
      const Function block = checkpoint(gradients, {}, calls);
      Tensors all{in[1] * 0.0, in[2] * 0.0};
      for (Dim i = 0; i < in[0].dim(0); ++i) {
        const Tensors next = block({squeeze(slice(in[0], 0, i, i + 1), 0), in[1], in[2]});
        all = {all[0] + next[0], all[1] + next[1]};
      }
      return all;
    };
  };
  const auto seconds_of_plan = [](const Function& f, Dim n) {
    const std::vector<Aval> avals{{{n, 8, 64}, DType::f32, default_device()},
                                  {{64, 64}, DType::f32, default_device()},
                                  {{64}, DType::f32, default_device()}};
    return seconds_of([&] { static_cast<void>(dry_run(f, avals, {.times = Times::none})); });
  };
  for (const auto& [word, f] :
       {std::pair{"in a loop", by_loop}, std::pair{"as calls", by_calls(Calls::may_differ)},
        std::pair{"as equal calls", by_calls(Calls::are_equal)}}) {
    double one = 1e9, many = 1e9;  // in turn, the least of each: it is what other programs disturb least
    for (int i = 0; i < 41; ++i) {
      one = std::min(one, seconds_of_plan(f, 1));
      many = std::min(many, seconds_of_plan(f, 32));
    }
    results.add({name, fmt::format("one, {}", word), "s", one, {}, {}, {}});
    results.add({name, fmt::format("32, {}", word), "s", many, {}, {}, {}});
    results.add({name, fmt::format("32 to one, {}", word), "", many / one, 1.2, {}, {}});
  }
}

/// Measures a loop of many small steps, as one op and written out.
void measure_loops(bench::Results& results) {
  constexpr int n_steps = 1000;
  const std::string name = "recurrence of 1000 steps of 64 f32, per step";
  const auto step = [](const Tensors& c, const Tensors& x) -> Tensors {
    return {tanh(c[0] * 0.9 + x[0]) * sigmoid(x[0] - c[0])};
  };
  const Tensor c = zeros({64}).eval(), x = full({n_steps, 64}, 0.3).eval();
  const Function by_scan = [&](const Tensors& in) { return scan(step, {in[0]}, {in[1]}).carry; };
  const Function written_out = [&](const Tensors& in) {
    Tensors now{in[0]};
    for (int i = 0; i < n_steps; ++i) now = step(now, {squeeze(slice(in[1], 0, i, i + 1), 0)});
    return now;
  };
  const auto slopes_of = [](const Function& f) -> Function {
    return [f](const Tensors& in) {
      return value_and_grad([&](const Tensors& at) -> Tensors { return {sum(f(at)[0])}; }, in).gradients;
    };
  };
  const auto add = [&](const std::string& metric, const Function& f) {
    eval(f({c, x}));
    results.add({name, metric, "s", median_seconds(15, [&] { eval(f({c, x})); }) / n_steps, {}, {}, {}});
  };
  for (const auto& [word, f] : {std::pair{"scan", by_scan}, std::pair{"written out", written_out}}) {
    add(fmt::format("{}, eager", word), f);
    add(fmt::format("{}, O1", word), compile(f));
    add(fmt::format("{}, value and gradient, eager", word), slopes_of(f));
    add(fmt::format("{}, value and gradient, O1", word), compile(slopes_of(f)));
  }
}

/// Words one after the other, with keys and values of those before in cells: the time of a word at the
/// beginning and at the end of a bucket, and what is counted.
void measure_decoding(bench::Results& results) {
  const std::string name = "decoding by a GPT, 6 layers of 384, 1024 words, f32";
  constexpr Dim n_words = 1024;
  InitialValues initial(5);
  const bench::Gpt net({.words = n_words}, initial);
  bench::GptDecoder decoder(net);
  std::vector<double> seconds;
  std::vector<std::int64_t> launches;
  for (Dim i = 0; i < n_words; ++i) {
    const std::int64_t before = decoder.stats().n_launches;
    seconds.push_back(seconds_of([&] { decoder.next(static_cast<std::int32_t>(i * 37 % 1024)).eval(); }));
    launches.push_back(decoder.stats().n_launches - before);
  }
  const auto median_of = [&](Dim first, Dim last) {
    std::vector<double> some(seconds.begin() + first, seconds.begin() + last);
    std::ranges::sort(some);
    return some[some.size() / 2];
  };
  const auto add = [&](const std::string& metric, const char* unit, double value,
                       std::optional<double> limit) {
    results.add({name, metric, unit, value, limit, {}, {}});
  };
  for (const auto& [first, last] : std::array<std::pair<Dim, Dim>, 3>{{{0, 64}, {64, 256}, {256, 1024}}}) {
    const Dim second = first + 1, third = (last - first) / 3;  // the first of a bucket records
    const std::string bucket = fmt::format("words {} to {}", first + 1, last);
    const auto [fewest, most] = std::minmax_element(launches.begin() + second, launches.begin() + last);
    add(bucket + ": time of a word", "s", median_of(second, last), {});
    add(bucket + ": last third to first", "",
        median_of(last - third, last) / median_of(second, first + third), 1.1);
    add(bucket + ": launches of a word", "", static_cast<double>(*most), static_cast<double>(*fewest));
  }
  const CompileStats stats = decoder.stats();
  add("compilations", "", static_cast<double>(stats.n_traces), 4.0);
  add("caches copied", "", static_cast<double>(stats.n_undonated), 12.0);
}

/// A step of training on batches whose size changes from call to call: of sizes that were seen before, of new
/// ones, and with a plan of its own for each.
void measure_batches(bench::Results& results) {
  const std::string name = "step of 20 layers of 16 x 16 on 2 to 64 items, f32";
  InitialValues initial(5);
  std::vector<Layer> layers;
  for (int i = 0; i < 20; ++i) {
    layers.emplace_back(Linear(16, 16, initial));
    layers.emplace_back(engine::tanh);
  }
  const Sequential net(layers);
  const Adam adam(net);
  const Function step = [&](const Tensors& in) -> Tensors {
    const auto loss = [&] { return mean_squared_error(net(in[0]), in[1]); };
    const auto [value, gradients] = value_and_grad(loss, adam.trained());
    adam.step(gradients);
    return {value};
  };
  const auto batch = [](Dim n) {
    const Tensor x = bench::normals({n, 16}, static_cast<std::uint64_t>(n), DType::f32).eval();
    return Tensors{x, x};
  };
  const auto add = [&](const std::string& metric, const char* unit, double value,
                       std::optional<double> limit) {
    results.add({name, metric, unit, value, limit, {}, {}});
  };
  const auto seconds_of_new = [&](const Compiled& compiled, const std::vector<Dim>& sizes) {
    std::vector<double> seconds;
    for (const Dim n : sizes) {
      const Tensors in = batch(n);
      const double first = seconds_of([&] { compiled(in); });
      seconds.push_back(first - median_seconds(5, [&] { compiled(in); }));
    }
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
  };
  const Compiled symbolic = compile(step, {.breaks = Breaks::refused, .symbolic = {BatchAxis()}}),
                 plain = compile(step, {.breaks = Breaks::refused, .most_plans = 64});
  std::vector<Dim> sizes;
  for (Dim n = 3; n < 60; n += 2) sizes.push_back(n);
  add("record and plan, first size", "s", seconds_of_new(symbolic, {64}), {});
  add("record and plan, second size", "s", seconds_of_new(symbolic, {63}), {});
  const double of_new = seconds_of_new(symbolic, sizes);
  const auto n_launches = static_cast<double>(symbolic.stats().n_launches / symbolic.stats().n_calls);
  add("a new size", "s", of_new, {});
  add("a new size: per launch", "s", of_new / n_launches, 3e-7);
  add("launches", "", n_launches, {});
  add("a new size, a plan of its own", "s", seconds_of_new(plain, sizes), {});
  const Tensors a = batch(33), b = batch(35);
  const double same = median_seconds(201, [&] { symbolic(a); }) + median_seconds(201, [&] { symbolic(b); });
  const double in_turn = median_seconds(201, [&] {
    symbolic(a);
    symbolic(b);
  });
  add("two sizes in turn, more than each by itself: per launch", "s", (in_turn - same) / (2.0 * n_launches),
      3e-7);
  add("recordings", "", static_cast<double>(symbolic.stats().n_traces), 2.0);
}

/// The time from a function to its plan: that of a first call less that of a second.
void measure_plans(bench::Results& results) {
  const auto add = [&](const std::string& name, const Function& f) {
    for (const Level level : {Level::O0, Level::O1}) {
      std::vector<double> seconds;
      std::string text;
      for (int i = 0; i < 9; ++i) {
        const Compiled compiled = compile(f, {.level = level, .breaks = Breaks::refused, .by_text = false});
        const double first = seconds_of([&] { compiled({}); });
        seconds.push_back(first - seconds_of([&] { compiled({}); }));
        text = compiled.text(Stage::recorded);
      }
      std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
      const auto n = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
      const char* const word = level == Level::O0 ? "O0" : "O1";
      results.add({name, fmt::format("{}: record and plan", word), "s", seconds[4], {}, {}, {}});
      results.add({name, fmt::format("{}: per instruction", word), "s", seconds[4] / n, 2e-5, {}, {}});
      results.add({name, "instructions", "", n, {}, {}, {}});
    }
  };
  const bench::MtVaeStep vae(DType::f32);
  add("plan of the MT-VAE step", vae.step());
  for (const Dim layers : {4, 16}) {
    const GptStep gpt({.layers = layers, .width = 16, .heads = 2, .words = 8, .vocabulary = 32}, 2);
    add(fmt::format("plan of a GPT step of {} layers", layers), gpt.step());
  }
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    bench::Results results;
    const std::string_view only = argc == 2 ? argv[1] : "";
    if (only.empty() || only == "gpt") measure_gpt(results, {});
    if (only.empty() || only == "gpt") measure_gpt(results, DType::bf16);
    if (only.empty() || only == "budgets") measure_budget_of_chain(results, {64, 8, 384, DType::f32, 9});
    if (only == "longprod") measure_budget_of_chain(results, {10'000, 100, 200, DType::f64, 1});
    if (only == "longplan") measure_budget_of_chain(results, {10'000, 100, 200, DType::f64, 0});
    if (only.empty() || only == "plans") measure_micro_batches(results);
    if (only.empty() || only == "budgets") measure_budgets_of_gpt(results);
    if (only.empty() || only == "loops") measure_loops(results);
    if (only.empty() || only == "decoding") measure_decoding(results);
    if (only.empty() || only == "batches") measure_batches(results);
    if (only.empty() || only == "plans") measure_plans(results);
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=compile");
    return 0;
  });
}
