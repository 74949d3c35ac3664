// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/random_words.hpp"

#include "engine/compile/passes.hpp"
#include "engine/compile/plan.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/record/tuple.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace lodestone::bench {
namespace {

using namespace engine;

/// Returns the plan of a function, with or without the pass that lets clusters make their words.
std::unique_ptr<const Plan> plan_of(const Function& f, const Tensors& in, bool makes_words) {
  std::vector<Strides> strides;
  for (const Tensor& each : in) strides.push_back(each.node().look.strides);
  std::vector<Pass> passes;
  for (const Pass& each : passes_of(Level::O1)) {
    if (makes_words || each.name != "drawing") passes.push_back(each);
  }
  Program program = Program::of(Trace::without_values(f, avals_of(in), std::source_location::current()));
  std::optional<Program> optimized = after(program, strides, passes);
  return std::make_unique<const Plan>(std::move(program), std::move(optimized), strides, Level::O1,
                                      std::vector<Donor>{}, HostJit::of_process(), nullptr);
}

using Plans = std::array<std::unique_ptr<const Plan>, 2>;

/// Adds the times of two plans, which run in turn: one reads an array of words, the other makes its own.
void measure(Results& results, const std::string& name, const Plans& plans, const Tensors& in) {
  constexpr std::size_t n_turns = 41;
  std::array<std::vector<double>, 2> seconds;
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn <= n_turns; ++turn) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      static_cast<void>(plans[i]->run(in));
      seconds[i].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    ratios.push_back(seconds[1].back() / seconds[0].back());
  }
  const auto median = [](std::vector<double> values) {
    values.erase(values.begin());  // a run that asks for memory
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
  };
  results.add(
      {name, "words made in place", "s", median(seconds[1]), {}, "words as an array", median(seconds[0])});
  results.add({name, "in place to array", "", median(ratios), {}, {}, {}});
}

void measure(Results& results, const std::string& name, const Function& f, const Tensors& in) {
  measure(results, name, {plan_of(f, in, false), plan_of(f, in, true)}, in);
}

/// Returns sums of products with words that two launches need: with those of one key or, if they make their
/// own, of two that are equal.
Function in_two_launches(Dim n, bool is_own) {
  return [n, is_own](const Tensors& in) -> Tensors {
    Tensors all;
    for (int i = 0; i < 2; ++i) {
      const Tensor words = shift_right(random_bits(in[is_own && i > 0 ? 2 : 1], {n}), i);
      all.push_back(cumulative_sum(in[0] * cast(words, DType::f32), 0));
    }
    return all;
  };
}

}  // namespace

void measure_random_words(Results& results) {
  const Tensor key = random_key(1).eval(), same_key = random_key(1).eval();
  for (const Dim n : {Dim{1} << 14, Dim{1} << 18, Dim{1} << 22}) {
    const std::string size = n < 1 << 20 ? fmt::format("{} K", n >> 10) : fmt::format("{} M", n >> 20);
    const Tensor x = full({n}, 0.5).eval();
    measure(results, fmt::format("dropout of {} f32", size),
            [n](const Tensors& in) -> Tensors {
              return {select(random_bernoulli(in[1], 0.8, {n}), in[0] * 1.25, 0.0)};
            },
            {x, key});
    measure(results, fmt::format("random_uniform, {} f32", size),
            [n](const Tensors& in) -> Tensors { return {random_uniform(in[0], {n})}; }, {key});
    measure(results, fmt::format("random_uniform, {} f64", size),
            [n](const Tensors& in) -> Tensors { return {random_uniform(in[0], {n}, DType::f64)}; }, {key});
    measure(results, fmt::format("random_normal, {} f32", size),
            [n](const Tensors& in) -> Tensors { return {random_normal(in[0], {n})}; }, {key});
    measure(results, fmt::format("random_normal, {} f64", size),
            [n](const Tensors& in) -> Tensors { return {random_normal(in[0], {n}, DType::f64)}; }, {key});
    measure(results, fmt::format("random_bernoulli, {}", size),
            [n](const Tensors& in) -> Tensors { return {random_bernoulli(in[0], 0.3, {n})}; }, {key});
    const Tensors in{x, key, same_key};
    measure(results, fmt::format("{} words in two launches", size),
            {plan_of(in_two_launches(n, false), in, true), plan_of(in_two_launches(n, true), in, true)}, in);
  }
}

}  // namespace lodestone::bench
