// SPDX-License-Identifier: Apache-2.0
// Steps of a network whose chunks lie on several ranks.
#pragma once

#include "engine/dist/pipeline/schedules.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/function.hpp"
#include "engine/record/variable.hpp"

#include <functional>
#include <map>
#include <source_location>
#include <vector>

namespace lodestone::engine {

/// A chunk of a network.
struct PipelineStage {
  /// Takes parameters and activations: the outputs of the chunk before, for chunk 0 the inputs of a leaf. The
  /// last chunk takes the targets of the leaf behind them and returns its loss, one real number.
  Function f;
  Tensors parameters;  ///< gradients are taken with respect to them
};
/// Returns a chunk that reads variables, the ones of its modules. `f`: a function of activations alone.
[[nodiscard]] PipelineStage stage_of(const Variables& variables, Function f);

/// A part of the batch. Ranks without chunk 0 may leave out its inputs, those without the last chunk its
/// targets. Both have no gradients and any dtype.
struct PipelineLeaf {
  Tensors inputs, targets;
};

struct PipelineOptions {
  int n_buffers = 2;  ///< messages under way from one rank to another
  /// Called behind each computation of this rank; with a `SimTransport` it may advance the clock.
  std::function<void(const PipelineItem&)> computed = [](const auto&) {};
};

/// The results of a step on a rank.
struct PipelineStep {
  Tensor loss;                       ///< sum over leaves; valid on the rank of the last chunk
  std::map<int, Tensors> gradients;  ///< by chunk of this rank: sums over leaves, one per parameter
};

/// Runs all leaves forwards and backwards in the order of a schedule.
///
/// Rank r of the world follows list r. `stages`: at least the chunks of this rank, by number; others are not
/// looked at. Leaves may differ in shape; activations are floating-point numbers. Sums over leaves add in a
/// tree. So loss and gradients have the same bits for every schedule and number of ranks. Cells that stages
/// assign keep the value of the last leaf. Shapes travel once per step, before all activations.
///
/// collective over the world. errors: InvalidArgument for a schedule with faults, for another number of
/// ranks, and for a schedule that differs between ranks. InvalidArgument for a missing stage and for another
/// number of leaves. ShapeError for a loss that is not one real number. Those of the stages and of the
/// transport.
[[nodiscard]] PipelineStep run_schedule(const World& world, const PipelineSchedule& schedule,
                                        const std::map<int, PipelineStage>& stages,
                                        const std::vector<PipelineLeaf>& leaves,
                                        const PipelineOptions& options = {},
                                        std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
