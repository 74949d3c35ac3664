// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds functions that read a value in their middle, compiled, with runs op by op as their peer, turn by
/// turn.
void measure_reads(Results& results);

}  // namespace lodestone::bench
