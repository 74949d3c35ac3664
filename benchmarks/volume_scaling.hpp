// SPDX-License-Identifier: Apache-2.0
// Small on purpose: bench_scaling measures a section and a volume.
#pragma once

#include "benchmarks/results.hpp"

#include <mpi.h>

namespace lodestone::bench {

/// Returns the median wall seconds of the slowest rank.
[[nodiscard]] double seconds_together(MPI_Comm comm, const std::function<void()>& work);

/// Measures forward runs and products of a volume: of one survey, and of one that grows with ranks and
/// threads. Predicts the largest share of work of more ranks. collective.
void measure_volume_scaling(Results& results, MPI_Comm comm);

}  // namespace lodestone::bench
