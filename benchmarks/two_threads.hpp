// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds what two threads make of small steps, turn by turn with one, and what they cost each other.
void measure_two_threads(Results& results);

}  // namespace lodestone::bench
