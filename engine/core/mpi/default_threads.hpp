// SPDX-License-Identifier: Apache-2.0
// Small on purpose: only the start of MPI and its tests need this number.
#pragma once

#include <mpi.h>

namespace lodestone::core {

/// Returns OMP_NUM_THREADS where it is set. Otherwise this rank's part of the processors: each one it may run
/// on (its affinity) counts 1/(ranks of this node that may run there). At least 1. collective.
[[nodiscard]] int default_threads(MPI_Comm comm);

}  // namespace lodestone::core
