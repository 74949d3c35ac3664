// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one function that ranks call before a step.
// Inside of the engine: what activations look like before there are any.
#pragma once

#include "engine/dist/pipeline/run.hpp"

namespace lodestone::engine {

/// Types of activations: by chunk, then by leaf.
using ActivationTypes = std::map<int, std::vector<std::vector<Aval>>>;

/// Returns what the chunks of this rank take from chunks before, under the numbers of the latter, and what
/// they give. Stages are recorded without values, and ranks tell the next ones. collective over the world.
[[nodiscard]] ActivationTypes activation_types(Transport& transport, const PipelineSchedule& schedule,
                                               const std::map<int, PipelineStage>& stages,
                                               const std::vector<PipelineLeaf>& leaves, std::uint64_t number,
                                               const std::source_location& where);

}  // namespace lodestone::engine
