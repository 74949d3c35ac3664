// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds functions in fast mode with strict mode as their peer, turn by turn, and the liberties taken.
void measure_fast_mode(Results& results);

}  // namespace lodestone::bench
