// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/share.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"

#include <chrono>
#include <thread>
#include <vector>

using namespace lodestone;
using namespace lodestone::engine;
using cpu_backend::OncePerThread;
using cpu_backend::share;
using tests::ThreadCount;

namespace {

/// Returns how often a loop over n came to each index.
std::vector<int> visits(Dim n, double ns) {
  std::vector<int> result(static_cast<std::size_t>(n), 0);
  share(n, ns, [&](Dim first, Dim last) {
    for (Dim i = first; i < last; ++i) ++result[static_cast<std::size_t>(i)];
  });
  return result;
}

/// Returns the number of parts of a loop over 1000.
int n_parts(double ns) {
  std::atomic<int> n = 0;
  share(1000, ns, [&](Dim, Dim) { ++n; });
  return n;
}

}  // namespace

TEST_CASE("share: every index has its turn once, on any number of threads", "[engine]") {
  for (const int threads : {1, 2, 3, 20}) {
    const ThreadCount set(threads);
    for (const Dim n : {1, 2, 3, 7, 80, 1001}) {
      const std::vector<int> once(static_cast<std::size_t>(n), 1);
      for (const double ns : {1e3, 1e4, 1e6}) {
        CHECK(visits(n, ns) == once);
        const core::CloseLoops close;
        for (int repeat = 0; repeat < 20; ++repeat) CHECK(visits(n, ns) == once);
      }
    }
  }
}

TEST_CASE("share: work of microseconds is shared where loops follow each other closely", "[engine]") {
  const ThreadCount set(2);
  CHECK(n_parts(1e5) == 1);
  CHECK(n_parts(3e5) > 1);
  const core::CloseLoops close;
  if (!core::CloseLoops::pay()) return;  // other programs, or one processor
  CHECK(n_parts(2e3) == 1);
  CHECK((n_parts(1e4) > 1 || !core::CloseLoops::pay()));
}

TEST_CASE("share: a thread begins where it began before, and prepares once", "[engine]") {
  const ThreadCount set(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> n_here = 0;
    std::array<Dim, 2> first_of{-1, -1};
    OncePerThread once;
    share(1000, 1e6, [&](Dim first, Dim) {
      const auto thread = static_cast<std::size_t>(core::thread_index());
      if (once.is_first()) {
        first_of[thread] = first;
        ++n_here;
      }
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (n_here < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    });
    CHECK(n_here == 2);
    CHECK(first_of == std::array<Dim, 2>{0, 500});
  }
}
