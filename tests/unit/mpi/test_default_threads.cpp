// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/default_threads.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"

#include <algorithm>
#include <sched.h>

using namespace lodestone::core;

namespace {

const MPI_Comm world = MPI_COMM_WORLD;

/// OMP_NUM_THREADS for a scope; empty: not set.
class Wanted : lodestone::tests::EnvironmentVariable {
 public:
  explicit Wanted(const char* text) : EnvironmentVariable("OMP_NUM_THREADS", text) {}
};

int n_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

}  // namespace

TEST_CASE("default_threads: OMP_NUM_THREADS wins, of a list its first number", "[mpi]") {
  {
    const Wanted wanted("3");
    CHECK(default_threads(world) == 3);
  }
  const Wanted list("5,2");
  CHECK(default_threads(world) == 5);
}

TEST_CASE("default_threads: ranks that may use the same processors share them, each gets at least one",
          "[mpi]") {
  const Wanted nothing("");
  CHECK(default_threads(world) == std::max(1, n_processors() / size_of(world)));
  CHECK(default_threads(MPI_COMM_SELF) == n_processors());
}

TEST_CASE("default_threads: words and zero in OMP_NUM_THREADS are left aside", "[mpi]") {
  const int expected = std::max(1, n_processors() / size_of(world));
  for (const char* text : {"all", "0", "-2", "2x"}) {
    const Wanted wanted(text);
    CHECK(default_threads(world) == expected);
  }
}
