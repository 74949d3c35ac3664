// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a run needs no estimate of its cost.
#pragma once

#include "engine/core/process_memory.hpp"
#include "inversion/inversion.hpp"

#include <string>

namespace lodestone::inversion {

/// Describes what a run will need: unknowns, data, regions of a learned prior, meshes, memory of each rank,
/// time of an iteration and of all that follows the last: responses at the final accuracy, certificate,
/// uncertainty. Runs the forward maps once.
/// collective.
[[nodiscard]] std::string cost_in_words(const Inversion& run);

/// Checks that the matrices of a run fit into the memory of each machine that its ranks stand on: those of
/// its steps and of its assessment. errors: InvalidArgument with both sizes. collective.
void require_memory(const Inversion& run,
                    double machine_bytes = static_cast<double>(core::machine_memory_bytes()));

/// Wall times of a map, seconds.
struct MapTimes {
  double forward_s = 0.0, jacobian_s = 0.0;
};
/// Times one value and one Jacobian.
[[nodiscard]] MapTimes timed(const core::DifferentiableMap& map, const Eigen::VectorXd& x);

}  // namespace lodestone::inversion
