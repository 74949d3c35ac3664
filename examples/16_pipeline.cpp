// SPDX-License-Identifier: Apache-2.0
// What this shows: a network is cut into eight chunks on four ranks and trained in the order of a schedule;
// the losses have the same bits as on one rank. Predicted idle shares of schedules stand beside.
//
// Equation: min Σ over leaves of Σ (f(x; w) − y)², f eight dense layers with tanh; Adam
//
// Sample run: 16_pipeline
#include "engine/core/log.hpp"
#include "engine/dist/pipeline/run.hpp"
#include "engine/dist/pipeline/timeline.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr int n_chunks = 8, n_leaves = 16, n_steps = 20;
constexpr Dim width = 16;

/// A chunk of the network and what trains it.
struct Chunk {
  Linear layer;
  Adam adam;
};

/// Trains this rank's chunks. Returns the losses on the rank of the last chunk.
std::vector<float> train(const World& world, const PipelineSchedule& schedule) {
  InitialValues random(7);  // each rank draws all, and keeps what is its own
  std::map<int, Chunk> chunks;
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    const Linear layer(width, width, random);
    if (schedule.rank_of(chunk) == world->rank())
      chunks.emplace(chunk, Chunk{layer, Adam(layer, {.learning_rate = 1e-2})});
  }
  std::vector<PipelineLeaf> leaves;
  for (int leaf = 0; leaf < n_leaves; ++leaf) {
    const Tensor x = random.draw({4, width}, uniform_between(-1.0, 1.0));
    leaves.push_back({{x}, {0.5 * sin(3.0 * x)}});
  }
  std::vector<float> losses;
  for (int step = 0; step < n_steps; ++step) {
    std::map<int, PipelineStage> stages;
    for (const auto& [number, chunk] : chunks) {
      const bool is_last = number == n_chunks - 1;
      stages[number] =
          stage_of(chunk.layer.parameters(), [layer = chunk.layer, is_last](const Tensors& x) -> Tensors {
            if (is_last) return {sum(square(layer(x[0]) - x[1]))};
            return {engine::tanh(layer(x[0]))};
          });
    }
    const PipelineStep result = run_schedule(world, schedule, stages, leaves);
    for (const auto& [number, gradients] : result.gradients) chunks.at(number).adam.step(gradients);
    if (result.loss.is_valid()) losses.push_back(result.loss.item<float>());
  }
  return losses;
}

}  // namespace

int main() {
  const PipelineSchedule schedule = zero_bubble_v(4, n_leaves);
  std::vector<float> losses;
  run_ranks(4, [&](const World& world) {
    const std::vector<float> own = train(world, schedule);
    if (!own.empty()) losses = own;  // one rank has the last chunk
  });
  PipelineSchedule alone{n_leaves, {{{0, 1, 2, 3, 4, 5, 6, 7}, {}}}};
  for (int leaf = 0; leaf < n_leaves; ++leaf) {
    for (int chunk = 0; chunk < n_chunks; ++chunk)
      alone.ranks[0].items.push_back({PipelineAction::compute, PipelinePass::forward, chunk, leaf});
    for (int chunk = n_chunks - 1; chunk >= 0; --chunk)
      alone.ranks[0].items.push_back({PipelineAction::compute, PipelinePass::both, chunk, leaf});
  }
  const std::vector<float> expected = train(lone_rank(), alone);
  core::log::info("loss {:.3f} → {:.3f}, {} bits as on one rank", losses.front(), losses.back(),
                  losses == expected ? "the same" : "other");
  for (const auto& [name, each] : {std::pair("GPipe", gpipe(4, n_leaves)),
                                   {"1F1B", one_f_one_b(4, n_leaves)},
                                   {"interleaved, 2 chunks", interleaved(4, n_leaves, 2)},
                                   {"zero-bubble V", schedule}}) {
    const PipelineTimeline timeline = timeline_of(each, equal_costs(each, 1.0, 1.0, 1.0));
    core::log::info("{:<22} predicted idle share of a step {:.3f}", name, timeline.idle);
  }
  return losses == expected && losses.back() < losses.front() ? 0 : 1;
}
