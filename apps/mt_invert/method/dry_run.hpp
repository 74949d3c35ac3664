// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/observations.hpp"
#include "inversion/inversion.hpp"
#include "inversion/mt/forward.hpp"

namespace lodestone::mt_invert::method {

/// Prints unknowns, data, masks, meshes, memory per rank and the estimated time of an iteration and of
/// [uncertainty] (from one timed frequency). collective. returns: the exit code.
[[nodiscard]] int print_dry_run(const inversion::Inversion& run,
                                const inversion::mt::Simulations& simulations, const config::Config& config,
                                const Observations& observations);

}  // namespace lodestone::mt_invert::method
