// SPDX-License-Identifier: Apache-2.0
// A program that fails in the way its argument names: "together" (same error on every rank), "alone" (last
// rank only, the others wait in a collective), "differently" (each rank its own error), "well" (no error).
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/mpi_scope.hpp"

#include <string>

using namespace lodestone::core;

int main(int argc, char** argv) {
  Session session;
  const auto& mpi = session.start<MpiScope>(argc, argv);
  return session.run([&] {
    const std::string how = argc > 1 ? argv[1] : "well";
    log::info("level {}", mpi.thread_level() == MPI_THREAD_MULTIPLE ? "multiple" : "lower");
    if (how == "together") throw ConfigError("configuration", "unknown key");
    if (how == "differently") throw FormatError("reader", "problem {}", mpi.rank());
    if (how == "alone" && mpi.rank() == mpi.size() - 1) throw SolverError("solver", "singular matrix");
    MPI_Barrier(mpi.world());
    return 0;
  });
}
