// SPDX-License-Identifier: Apache-2.0
// Small on purpose: few callers wait with pauses, all include MPI.
#pragma once

#include <mpi.h>

namespace lodestone::core {

// For waits that may take seconds. MPI's own poll without a pause: a rank that waits takes a whole core from
// the threads of one that works.

/// Waits until the request is done, with tests after pauses of 0.1 ms that grow to 10 ms.
void wait_with_pauses(MPI_Request& request);
/// Waits until every rank has come here. collective.
void meet_with_pauses(MPI_Comm comm);

}  // namespace lodestone::core
