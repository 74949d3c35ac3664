// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/rounds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

using namespace lodestone;
using namespace lodestone::engine;
using namespace lodestone::engine::cpu_backend;

namespace {

constexpr Dim n_rounds = 400, n_copies = 3, n_parts = 5;

/// Gives other threads a chance, now and then a long one.
void dawdle(Dim round, Dim of) {
  const Dim turns = (round * 7 + of * 13) % 11 == 0 ? 60 : (round + of) % 3;
  for (Dim i = 0; i < turns; ++i) std::this_thread::yield();
}

}  // namespace

TEST_CASE("rounds: a part finds all copies of its round, and follows the same part of the round before",
          "[engine]") {
  for (const int threads : {1, 2, 3, 4}) {
    const tests::ThreadCount count(threads);
    std::vector<std::byte> memory(4096 + Scratch::alignment);
    void* start = memory.data();
    std::size_t space = memory.size();
    Layout layout(static_cast<std::byte*>(std::align(Scratch::alignment, 4096, start, space)));
    const Rounds rounds(layout, n_copies, n_parts);
    std::array<std::array<Dim, n_copies>, Rounds::n_buffers> copies{};
    std::array<Dim, n_parts> next{};
    std::atomic<int> n_wrong = 0, n_copied = 0;
    rounds.run(
        n_rounds, n_copies, n_parts, threads > 1,
        [&](Dim round, Dim i, Dim buffer) {
          dawdle(round, i);
          copies[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(i)] = round;
          ++n_copied;
        },
        [&](Dim round, Dim part, Dim buffer) {
          for (const Dim copied : copies[static_cast<std::size_t>(buffer)])
            n_wrong += copied == round ? 0 : 1;
          dawdle(round, part);
          for (const Dim copied : copies[static_cast<std::size_t>(buffer)])
            n_wrong += copied == round ? 0 : 1;
          n_wrong += next[static_cast<std::size_t>(part)]++ == round ? 0 : 1;
        });
    INFO(threads << " threads");
    CHECK(n_wrong == 0);
    CHECK(n_copied == n_rounds * n_copies);
    for (const Dim done : next) CHECK(done == n_rounds);
  }
}
