// SPDX-License-Identifier: Apache-2.0
// Every level gives the bits of eager runs. LODESTONE_ISA names the instruction set, LODESTONE_JIT=wait asks
// for functions of text; CMakeLists.txt runs this once per instruction set.
#include "engine/compile/compile.hpp"
#include "engine/generate/host_jit.hpp"
#include "engine/graph/evaluate.hpp"
#include "tests/parity/trainings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <regex>

using namespace lodestone;
using namespace lodestone::engine;
using tests::Training;
using tests::TrainingCase;

namespace {

/// Results of all steps, and what the cells hold then.
struct Outcome {
  std::vector<Tensors> results;
  Tensors cells;
};

bool same_bits(const Outcome& a, const Outcome& b) {
  const auto same = [](const Tensors& x, const Tensors& y) { return tests::same_bits(x, y); };
  return std::ranges::equal(a.results, b.results, same) && same(a.cells, b.cells);
}

/// Takes five steps, or two where nothing changes from one to the next.
Outcome taken(const Training& training, const Function& step) {
  Outcome outcome;
  for (int i = 0; i < (training.cells.empty() ? 2 : 5); ++i) {
    outcome.results.push_back(step(training.inputs));
    eval(outcome.results.back());
    eval(values_of(training.cells));
  }
  outcome.cells = values_of(training.cells);
  return outcome;
}

struct Counts {
  std::int64_t n_by_text = 0, n_smaller = 0, n_segments = 0;
};

/// Compares the levels of one training with its eager run.
class Levels {
 public:
  Levels(const TrainingCase& of, DType dtype, Counts& counts) : of_(of), dtype_(dtype), counts_(counts) {}

  void compare() {
    const Training eager = of_.start(dtype_);
    right_ = taken(eager, eager.step);
    for (const int n_threads : {1, 2, 3}) {
      INFO("on " << n_threads << " threads");
      const tests::Threads scope(n_threads);
      const Training again = of_.start(dtype_);
      CHECK(same_bits(taken(again, again.step), right_));
      compare_with({.level = Level::O0, .by_text = false});
      const CompileStats stats = compare_with({.level = Level::O1, .by_text = false});
      counts_.n_by_text += compare_with({.level = Level::O1}).n_by_text;
      compare_within_budget(stats.block_bytes);
      if (n_threads != 2) compare_with_reads();
    }
  }

 private:
  CompileStats compare_with(CompileOptions options) {
    INFO("level " << static_cast<int>(options.level) << (options.by_text ? " by text" : ""));
    options.breaks = Breaks::refused;
    const Training training = of_.start(dtype_);
    const Compiled compiled = compile(training.step, options);
    CHECK(same_bits(taken(training, [&](const Tensors& in) { return compiled(in); }), right_));
    CHECK(compiled.stats().n_hits > 0);
    return compiled.stats();
  }

  /// Compares with a budget between what a block must have and what it has, where it can be smaller.
  void compare_within_budget(std::size_t all) {
    const std::size_t least = smallest_budget(), budget = (least + all) / 2;
    if (least >= all) return;
    INFO("within " << budget << " bytes of " << all);
    CHECK(compare_with({.budget = budget, .by_text = false}).block_bytes <= budget);
    ++counts_.n_smaller;
  }

  /// Compares with a step that reads its first result, then its last cell, before it ends.
  void compare_with_reads() {
    INFO("with reads");
    const Training training = of_.start(dtype_);
    const Compiled compiled = compile([&](const Tensors& in) {
      Tensors results = training.step(in);
      results.front().eval();
      if (!training.cells.empty()) training.cells.back().value().eval();
      return results;
    });
    CHECK(same_bits(taken(training, [&](const Tensors& in) { return compiled(in); }), right_));
    const CompileStats stats = compiled.stats();
    CHECK(stats.breaks.size() == 1);
    counts_.n_segments += stats.n_segments;
  }

  /// Returns the budget that the message on one that is too small names.
  [[nodiscard]] std::size_t smallest_budget() const {
    const Training training = of_.start(dtype_);
    const auto error = tests::error_of<core::InvalidArgument>(
        [&] { static_cast<void>(compile(training.step, {.budget = 1, .by_text = false})(training.inputs)); });
    CHECK_THAT(error, tests::HasId("budget_too_small"));
    const std::string message = error.what();
    std::smatch found;
    REQUIRE(std::regex_search(message, found, std::regex("at least ([0-9]+) bytes")));
    return std::stoull(found[1]);
  }

  const TrainingCase& of_;
  const DType dtype_;
  Counts& counts_;
  Outcome right_;
};

std::vector<TrainingCase> sample_networks() {
  std::vector<TrainingCase> result;
  for (const tests::SampleNetwork& each : tests::SampleNetworks(DType::f32).all()) {
    const auto start = [number = result.size()](DType dtype) -> Training {
      static std::map<DType, std::vector<tests::SampleNetwork>> networks;
      const auto [at, is_new] = networks.try_emplace(dtype);
      if (is_new) at->second = tests::SampleNetworks(dtype).all();
      return {at->second[number].f, at->second[number].inputs, {}};
    };
    result.push_back({each.name, start});
  }
  return result;
}

void compare_levels(const std::vector<TrainingCase>& cases, std::int64_t least_by_text, int least_smaller,
                    std::int64_t least_segments) {
  Counts counts;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const TrainingCase& each : cases) {
      INFO(each.name << " of " << core::name_of(dtype));
      Levels(each, dtype, counts).compare();
    }
  }
  CHECK(counts.n_smaller >= least_smaller);
  CHECK(counts.n_segments >= least_segments);
  // Asked of the environment: a compiler that has failed turns functions of text off.
  if (JitOptions::of_environment().mode == JitMode::off)
    WARN("without functions of text: LODESTONE_JIT is not set");
  else
    CHECK(counts.n_by_text >= least_by_text);
}

}  // namespace

TEST_CASE("levels: thirty networks", "[parity]") { compare_levels(sample_networks(), 300, 20, 100); }

TEST_CASE("levels: trainings with their cells after five steps", "[parity]") {
  compare_levels(tests::engine_trainings(), 100, 5, 100);
}

TEST_CASE("levels: loops, branches, checkpoints and simulations", "[parity]") {
  compare_levels(tests::control_functions(), 5, 0, 10);
}

TEST_CASE("levels: trainings of models", "[parity]") {
  const std::vector<TrainingCase> cases = tests::model_trainings();
  if (cases.empty())
    WARN("no models in a build of the engine alone");
  else
    compare_levels(cases, 20, 1, 10);
}
