// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one contract that many writers of files use.
#pragma once

#include <mpi.h>

#include <functional>

namespace lodestone::core {

/// Runs `action` on rank 0 alone (writing files); its error is thrown on every rank, so that all stop
/// together with one message. The others sleep meanwhile. `comm` is not used by a process that never started
/// MPI. collective.
void on_rank_zero(MPI_Comm comm, const std::function<void()>& action);
/// Runs `action` on ranks 0 … `n_ranks` − 1 in the same way. The error of the first rank that fails is thrown
/// on every rank. collective.
void on_first_ranks(MPI_Comm comm, int n_ranks, const std::function<void()>& action);

}  // namespace lodestone::core
