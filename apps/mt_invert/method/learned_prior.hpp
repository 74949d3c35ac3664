// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/run_results.hpp"

namespace lodestone::mt_invert::method {

/// Puts into the result how its model stands to the learned prior: codes, the nearest model of the prior, the
/// deviation from it, and the coverage of every subdomain, with the share of the data where the result has a
/// posterior; logs a line per region, at level debug one per subdomain. Nothing without a learned prior.
void add_learned_prior(const FinishedRun& run, io::run::InversionResult& result);

}  // namespace lodestone::mt_invert::method
