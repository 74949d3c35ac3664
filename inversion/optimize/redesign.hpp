// SPDX-License-Identifier: Apache-2.0
// Small on purpose: rules on meshes, which optimizers do not include.
#pragma once

#include "inversion/optimize/optimizer.hpp"

namespace lodestone::inversion::optimize {

/// Returns a rule by which the forward map follows the model from the second iteration on. The first begins
/// with the map for the start.
[[nodiscard]] Redesign redesign_each_iteration(objective::Design design);

/// Returns a rule that follows the model until one has an rms of at most `near_rms`: its map is the last.
/// So the map of the last iterations no longer changes by the errors of its meshes, which are no smaller than
/// the misfit there. The rule follows from the history, so a resumed run decides alike. errors:
/// InvalidArgument unless `near_rms` is positive.
[[nodiscard]] Redesign redesign_until_near(double near_rms, objective::Design design);

/// Returns a rule that follows the model whenever the rms has fallen to `share` of that at the last redesign
/// or at the start. For maps that hardly depend on the model, each of which costs a run of its own. The rule
/// follows from the history likewise. errors: InvalidArgument unless 0 < share < 1.
[[nodiscard]] Redesign redesign_as_rms_falls(double share, objective::Design design);

/// Returns true if one of these models was near.
[[nodiscard]] bool was_near(std::span<const IterationRecord> history, double near_rms);

}  // namespace lodestone::inversion::optimize
