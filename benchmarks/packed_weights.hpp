// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds networks whose weights are packed once, with those that pack them in every run as their peer, turn by
/// turn.
void measure_packed_weights(Results& results);

}  // namespace lodestone::bench
