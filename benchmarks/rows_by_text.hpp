// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds functions that combine rows, by text with the interpreter as their peer, turn by turn.
void measure_rows_by_text(Results& results);

}  // namespace lodestone::bench
