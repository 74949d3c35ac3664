// SPDX-License-Identifier: Apache-2.0
// Steps of pipelines: the bits of the step in one piece, whatever the schedule and the number of ranks.
#include "engine/dist/pipeline/leaf_sum.hpp"
#include "engine/dist/pipeline/run.hpp"
#include "engine/dist/pipeline/timeline.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/dist/transport/sim.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/all_schedules.hpp"
#include "tests/unit/engine/dist/pipeline_network.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::PipelineNetwork;
using tests::StepValues;

namespace {

/// Joins what the ranks get.
StepValues step_on_threads(const PipelineNetwork& network, const PipelineSchedule& schedule) {
  StepValues all;
  std::mutex mutex;
  run_ranks(static_cast<int>(schedule.ranks.size()), [&](const World& world) {
    StepValues own = network.step(world, schedule);
    const std::lock_guard lock(mutex);
    if (!own.loss.empty()) all.loss = own.loss;
    all.gradients.merge(own.gradients);
  });
  return all;
}

}  // namespace

TEST_CASE("pipeline: sums over leaves add in one tree, whatever comes first", "[engine]") {
  std::mt19937 random(3);
  for (const int n : {1, 2, 3, 5, 8, 13}) {
    std::vector<double> terms;
    for (int i = 0; i < n; ++i) terms.push_back(std::sin(i + 1.0) * std::pow(10.0, i % 5));
    const auto total_of = [&](const std::vector<int>& order) {
      LeafSum sum(n);
      std::size_t most = 0;
      for (const int leaf : order) {
        sum.add(leaf, {full({}, terms[static_cast<std::size_t>(leaf)], DType::f64)});
        most = std::max(most, sum.n_alive());
      }
      return std::pair(sum.total()[0].item<double>(), most);
    };
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
    const auto [expected, most] = total_of(order);
    if (n == 3) CHECK(expected == terms[0] + (terms[1] + terms[2]));
    if (n == 5) CHECK(expected == (terms[0] + terms[1]) + (terms[2] + (terms[3] + terms[4])));
    if (n == 8) CHECK(most == 3);
    for (int i = 0; i < 20; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      CHECK(total_of(order).first == expected);
    }
  }
  LeafSum sum(2);
  sum.add(1, {zeros({1})});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)sum.total(); }), HasId("incomplete", {"2"}));
}

TEST_CASE("pipeline: gradients have the bits of the step in one piece", "[engine]") {
  for (const int ranks : {1, 2, 4}) {
    for (const int leaves : {1, ranks, 2 * ranks, 3 * ranks + 1}) {
      for (const auto& [name, schedule] : tests::all_schedules(ranks, leaves)) {
        INFO(name << " on " << ranks << " ranks, " << leaves << " leaves");
        const PipelineNetwork network(schedule.n_chunks(), leaves);
        const StepValues whole = network.whole_step();
        CHECK(whole.loss.size() == 1);
        CHECK(whole.gradients.size() == static_cast<std::size_t>(schedule.n_chunks()));
        CHECK(step_on_threads(network, schedule) == whole);
      }
    }
  }
}

TEST_CASE("pipeline: the list of a user gives the same bits", "[engine]") {
  const PipelineSchedule own = with_messages(
      schedule_from("rank 0, chunks 0 2, leaves 3: F0.0 F0.1 F2.1 B2.1 W2.1 F2.0 B2.0 F0.2 F2.2 BW2.2 W2.0 "
                    "B0.1 B0.2 B0.0 W0.0 W0.1 W0.2\n"
                    "rank 1, chunks 1, leaves 3: F1.1 F1.0 B1.1 F1.2 B1.2 B1.0 W1.2 W1.1 W1.0\n"));
  const PipelineNetwork network(3, 3);
  CHECK(step_on_threads(network, own) == network.whole_step());
}

TEST_CASE("pipeline: split backward passes compute nothing twice", "[engine]") {
  const PipelineNetwork network(2, 4);
  PipelineSchedule whole{4, {{{0, 1}, {}}}}, split = whole;
  for (int leaf = 0; leaf < 4; ++leaf) {
    using enum PipelinePass;
    const auto add = [&](PipelineSchedule& schedule, PipelinePass pass, int chunk) {
      schedule.ranks[0].items.push_back({PipelineAction::compute, pass, chunk, leaf});
    };
    for (const int chunk : {0, 1}) add(whole, forward, chunk), add(split, forward, chunk);
    for (const int chunk : {1, 0}) add(whole, both, chunk), add(split, backward, chunk);
    for (const int chunk : {0, 1}) add(split, weights, chunk);
  }
  const auto products_of = [&](const PipelineSchedule& schedule) {
    const Profile profile = Profile::of([&] { (void)network.step(lone_rank(), schedule); });
    const auto found = std::ranges::find_if(
        profile.ops(), [](const OpProfile& each) { return each.op.starts_with("dot_general"); });
    REQUIRE(found != profile.ops().end());
    return std::pair(found->calls, found->flops);
  };
  CHECK(products_of(whole).first == 4 * (2 + 1 + 2));  // two forwards, one for activations, two for weights
  CHECK(products_of(split) == products_of(whole));
}

TEST_CASE("pipeline: modules are chunks, and their state is that of one rank", "[engine]") {
  struct Run {
    std::vector<double> weights, statistics, loss;
  };
  const auto run = [](const World& world, const PipelineSchedule& schedule) {
    InitialValues initial(5);
    const Linear first(3, 4, initial), last(4, 2, initial);
    const BatchNorm norm(4, initial);
    std::map<int, PipelineStage> stages;
    Variables variables = first.parameters();
    for (const Variable& each : norm.parameters()) variables.push_back(each);
    stages[0] = stage_of(variables, [&](const Tensors& x) -> Tensors { return {norm(first(x[0]))}; });
    stages[1] = stage_of(last.parameters(), [&](const Tensors& x) -> Tensors {
      return {sum(square(last(tanh(x[0])) - cast(x[1], DType::f32)))};
    });
    std::vector<PipelineLeaf> leaves;
    for (int leaf = 0; leaf < schedule.n_leaves; ++leaf) {
      std::vector<float> x(15);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(leaf * 15) + i);
      leaves.push_back({{Tensor::from(x, {5, 3})}, {full({5, 2}, leaf, DType::i32)}});  // whole numbers
    }
    const PipelineStep step = run_schedule(world, schedule, stages, leaves);
    Run got;
    for (const auto& [_, gradients] : step.gradients) {
      for (const Tensor& each : gradients) {
        const auto values = cast(each, DType::f64).to_vector<double>();
        got.weights.insert(got.weights.end(), values.begin(), values.end());
      }
    }
    if (step.gradients.contains(0)) {
      for (const auto& [_, each] : norm.state()) {
        const auto values = cast(each, DType::f64).to_vector<double>();
        got.statistics.insert(got.statistics.end(), values.begin(), values.end());
      }
    }
    if (step.loss.is_valid()) got.loss = cast(step.loss, DType::f64).to_vector<double>();
    return got;
  };
  PipelineSchedule alone{4, {{{0, 1}, {}}}};
  for (int leaf = 0; leaf < 4; ++leaf) {
    using enum PipelinePass;
    for (const auto& [pass, chunk] : {std::pair(forward, 0), {forward, 1}, {both, 1}, {both, 0}})
      alone.ranks[0].items.push_back({PipelineAction::compute, pass, chunk, leaf});
  }
  const Run expected = run(lone_rank(), alone);
  CHECK(expected.statistics.size() >= 8);
  for (const PipelineSchedule& schedule : {gpipe(2, 4), one_f_one_b(2, 4)}) {
    Run got[2];
    run_ranks(
        2, [&](const World& world) { got[static_cast<std::size_t>(world->rank())] = run(world, schedule); });
    std::vector<double> weights = got[0].weights;
    weights.insert(weights.end(), got[1].weights.begin(), got[1].weights.end());
    CHECK(weights == expected.weights);
    CHECK(got[0].statistics == expected.statistics);
    CHECK(got[1].loss == expected.loss);
  }
}

TEST_CASE("pipeline: a step with clocks idles as predicted", "[engine]") {
  for (const auto& [name, schedule] : tests::all_schedules(4, 8)) {
    INFO(name);
    const PipelineNetwork network(schedule.n_chunks(), 8);
    PipelineCosts costs = equal_costs(schedule, 1.0, 1.0, 1.0);
    const std::vector<SimRank> ends = run_simulated_ranks(4, costs.links, [&](const SimWorld& world) {
      (void)network.step(world, schedule, {.computed = [&](const PipelineItem& item) {
                           world->advance(costs.compute_s(item));
                         }});
    });
    double end_s = 0.0;
    for (const SimRank& each : ends) end_s = std::max(end_s, each.end_s);
    CHECK(end_s == timeline_of(schedule, costs).end_s);
  }
}

TEST_CASE("pipeline: mistakes are told on all ranks", "[engine]") {
  const auto error = [](int ranks, const std::function<PipelineSchedule(int)>& schedule_of, int n_leaves,
                        bool has_stages = true) {
    return error_of<core::InvalidArgument>([&] {
      run_ranks(ranks, [&](const World& world) {
        const PipelineNetwork network(2, n_leaves);
        (void)run_schedule(world, schedule_of(world->rank()),
                           has_stages ? network.stages() : std::map<int, PipelineStage>(), network.leaves());
      });
    });
  };
  const auto always = [](const PipelineSchedule& schedule) { return [=](int) { return schedule; }; };
  CHECK_THAT(error(3, always(gpipe(2, 4)), 4), HasId("other_ranks", {"3", "2"}));
  CHECK_THAT(error(2, always(gpipe(2, 4)), 3), HasId("other_leaves", {"4", "3"}));
  CHECK_THAT(error(2, always(gpipe(2, 4)), 4, false), HasId("missing_stage", {"chunk"}));
  PipelineSchedule broken = gpipe(2, 4);
  broken.ranks[0].items.pop_back();
  CHECK_THAT(error(2, always(broken), 4), HasId("faults", {"BW0.3"}));
  CHECK_THAT(error(
                 2, [](int rank) { return rank == 0 ? gpipe(2, 4) : one_f_one_b(2, 4); }, 4),
             HasId("other_collective", {"rank 1"}));
  const core::Error of_stage = error_of<core::SolverError>([] {
    run_ranks(2, [](const World& world) {
      const PipelineNetwork network(2, 6);
      auto n_computed = 0;
      (void)network.step(world, one_f_one_b(2, 6), {.computed = [&](const PipelineItem&) {
                           if (++n_computed == 5) throw core::SolverError("solver#diverged", "in item 5");
                         }});
    });
  });
  CHECK_THAT(of_stage, HasId("diverged"));
  CHECK_THAT(error_of<core::ShapeError>([] {
               std::map<int, PipelineStage> stages;
               stages[0] = {[](const Tensors& in) -> Tensors { return {in[0] * in[1]}; }, {zeros({3})}};
               (void)run_schedule(lone_rank(), gpipe(1, 1), stages, {{{zeros({3})}, {}}});
             }),
             HasId("not_one_real_number"));
}
