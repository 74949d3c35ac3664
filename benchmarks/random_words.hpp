// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one group of rows.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds dropout and draws whose clusters make their random words, turn by turn with plans that read an array
/// of them. Some words are needed by several launches.
void measure_random_words(Results& results);

}  // namespace lodestone::bench
