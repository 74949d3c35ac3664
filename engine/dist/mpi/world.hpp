// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the only header of the engine that knows MPI.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <mpi.h>

#include <functional>

namespace lodestone::engine {

/// The behaviour of ranks that wait for others.
struct MpiWorldOptions {
  double patience_s = 600.0;  ///< a rank that waits longer ends with a table of who waits for whom
  double answer_s = 2.0;      ///< time in which the other ranks can say so
};

/// Returns this rank's end of a world of the ranks of a communicator, of which it takes a copy. MPI is over
/// when its scope ends, so the world must be gone by then.
///
/// When a rank fails (`Transport::fail`), those that wait throw the same. Ranks that wait for one that does
/// not come throw an error after the patience: the text names each rank, for whom it waits and for how long,
/// and those that did not answer. collective over `comm`. errors: InvalidArgument for a patience that is not
/// positive.
[[nodiscard]] World mpi_world(MPI_Comm comm, const MpiWorldOptions& options = {});

/// Calls f with a world; if f throws, the other ranks are told before the error goes on. collective over
/// `comm`. errors: those of f, and those of other ranks, which name the rank: "rank 1 of 2: …".
void with_mpi_world(MPI_Comm comm, const std::function<void(const World&)>& f,
                    const MpiWorldOptions& options = {});

}  // namespace lodestone::engine
