// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a part of bench_engine in a file of its own.
#pragma once

#include "benchmarks/results.hpp"

namespace lodestone::bench {

/// Adds the time of a step of `Model::fit`, op by op and on each level, with and without callbacks that judge
/// it: of the MT-VAE, and of a network so small that what `fit` does itself is seen beside the bare function.
void measure_fit(Results& results);

}  // namespace lodestone::bench
