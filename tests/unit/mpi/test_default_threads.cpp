// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/default_threads.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <string>

using namespace lodestone::core;

namespace {

const MPI_Comm world = MPI_COMM_WORLD;

/// OMP_NUM_THREADS for a scope; empty: not set.
class Wanted {
 public:
  explicit Wanted(const char* text) {
    if (const char* value = std::getenv(name)) before_ = value;
    set(text);
  }
  ~Wanted() { set(before_.c_str()); }
  Wanted(const Wanted&) = delete;
  Wanted& operator=(const Wanted&) = delete;

 private:
  static constexpr const char* name = "OMP_NUM_THREADS";
  static void set(const char* text) {
    if (*text == '\0') {
      unsetenv(name);
    } else {
      setenv(name, text, 1);
    }
  }
  std::string before_;
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
