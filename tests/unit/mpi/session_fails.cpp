// SPDX-License-Identifier: Apache-2.0
// A program that fails in the way its argument names: "together" (same error on every rank), "alone" (last
// rank only, the others wait in a collective), "differently" (each rank its own error), "well" (no error),
// "told" (the last rank, from which the others have it), "told first" (from the first), "told but one" (as
// told, while rank 1 hangs).
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/mpi_scope.hpp"

#include <chrono>
#include <string>
#include <thread>

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
    if (how == "told but one" && mpi.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(20));
    if (how.starts_with("told")) {
      const SolverError error("solver", "singular matrix");
      const int bad = how == "told first" ? 0 : mpi.size() - 1;
      throw mpi.rank() == bad ? error : SolverError(Worded{of_rank(bad, mpi.size(), error.what()), "solver"});
    }
    MPI_Barrier(mpi.world());
    return 0;
  });
}
