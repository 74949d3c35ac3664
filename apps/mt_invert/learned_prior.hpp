// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/run_results.hpp"

namespace lodestone::mt_invert {

/// Puts into the result how its model stands to the learned prior: codes, the nearest model of the prior, and the deviation from it; logs a line per region.
/// Nothing without a learned prior.
void add_learned_prior(const FinishedRun& run, io::InversionResult& result);

}  // namespace lodestone::mt_invert
