// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/physics_setup.hpp"

namespace lodestone::mt_invert {

/// Prints unknowns, data, masks, meshes, memory per rank and the estimated time of an iteration (from one timed frequency). collective.
/// returns: the exit code.
[[nodiscard]] int print_dry_run(const PhysicsSetup& physics, const Config& config, const Earth& earth, const Observations& observations);

}  // namespace lodestone::mt_invert
