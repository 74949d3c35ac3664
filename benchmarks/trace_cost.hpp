// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds what an event of the time line costs, and a training step with and without it, turn by turn.
void measure_trace(Results& results);

}  // namespace lodestone::bench
