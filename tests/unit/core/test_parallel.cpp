// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/thread_count.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::message_of;
using lodestone::tests::ThreadCount;

namespace {

/// Returns the number of calls of each index.
std::vector<int> calls(std::ptrdiff_t n) {
  std::vector<int> result(static_cast<std::size_t>(n), 0);
  parallel_for(n, [&](std::ptrdiff_t i) { ++result[static_cast<std::size_t>(i)]; });
  return result;
}

/// Works for so long without sleeping.
void work_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Returns whether threads can look out for the next loop here: each needs a processor.
bool has_processors(int n) { return static_cast<int>(std::thread::hardware_concurrency()) >= n; }

/// Until `arrived` threads are here, or ten seconds have passed.
bool meet(std::atomic<int>& here, int arrived) {
  ++here;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (here < arrived && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return here >= arrived;
}

/// Lets two threads share a loop, where the one that called is done so long before the other. Where they met
/// late, it is longer: a loop waits for as long as its own part took.
void wait_for_other(std::chrono::milliseconds time) {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> here = 0;
  parallel_for(2, [&](std::ptrdiff_t) {
    if (meet(here, 2) && thread_index() != 0)
      std::this_thread::sleep_for(time + 2 * (std::chrono::steady_clock::now() - begin));
  });
}

}  // namespace

TEST_CASE("parallel_for: every index is called once, with any number of threads and none to call", "[core]") {
  for (const int n_threads : {1, 2, 5}) {
    const ThreadCount set(n_threads);
    for (const std::ptrdiff_t n : {0, 1, 2, 3, 1000})
      CHECK(calls(n) == std::vector<int>(static_cast<std::size_t>(n), 1));
  }
}

TEST_CASE("parallel_for: the threads that are set work at the same time, and no others", "[core]") {
  const ThreadCount set(3);
  std::atomic<int> here = 0;
  std::vector<int> indices(3, -1);
  std::atomic<bool> met = true;
  parallel_for(3, [&](std::ptrdiff_t i) {
    if (!meet(here, 3)) met = false;
    indices[static_cast<std::size_t>(i)] = thread_index();
  });
  CHECK(met);
  CHECK(std::set<int>(indices.begin(), indices.end()) == std::set<int>{0, 1, 2});
  CHECK(thread_index() == 0);
}

TEST_CASE("parallel_for: of several exceptions that of the smallest index arrives, and the next loop runs",
          "[core]") {
  for (const int n_threads : {1, 4}) {
    const ThreadCount set(n_threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      const auto loop = [] {
        parallel_for(100, [](std::ptrdiff_t i) {
          if (i % 10 == 7) throw SolverError("test", "index {}", i);
        });
      };
      CHECK(message_of<SolverError>(loop) == "[test] index 7");
    }
    CHECK(calls(10) == std::vector<int>(10, 1));
  }
}

TEST_CASE("parallel_for: inside another one it runs on the thread that calls it", "[core]") {
  const ThreadCount set(3);
  std::vector<int> sums(6, 0);
  std::atomic<bool> moved = false;
  parallel_for(6, [&](std::ptrdiff_t i) {
    const auto outer = std::this_thread::get_id();
    parallel_for(5, [&](std::ptrdiff_t j) {
      if (std::this_thread::get_id() != outer) moved = true;
      sums[static_cast<std::size_t>(i)] += static_cast<int>(j);
    });
  });
  CHECK_FALSE(moved);
  CHECK(sums == std::vector<int>(6, 10));
}

TEST_CASE("parallel_for: a failure inside a nested loop leaves the outer thread able to share work again",
          "[core]") {
  const ThreadCount set(2);
  CHECK_THROWS_AS(parallel_for(2,
                               [](std::ptrdiff_t) {
                                 parallel_for(2, [](std::ptrdiff_t) { throw std::runtime_error("inside"); });
                               }),
                  std::runtime_error);
  std::atomic<int> here = 0;
  std::atomic<bool> met = true;
  parallel_for(2, [&](std::ptrdiff_t) {
    if (!meet(here, 2)) met = false;
  });
  CHECK(met);
}

TEST_CASE("parallel_for: two threads may call it at once", "[core]") {
  const ThreadCount set(2);
  std::vector<int> first, second;
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) first = calls(20);
  });
  for (int i = 0; i < 200; ++i) second = calls(20);
  other.join();
  CHECK(first == std::vector<int>(20, 1));
  CHECK(second == std::vector<int>(20, 1));
}

TEST_CASE("close loops: every index is called once, whatever time lies between loops", "[core]") {
  for (const int n_threads : {2, 3, 8}) {
    const ThreadCount set(n_threads);
    const CloseLoops close;
    int n_wrong = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::ptrdiff_t n = 2 + i % 5;
      n_wrong += calls(n) == std::vector<int>(static_cast<std::size_t>(n), 1) ? 0 : 1;
      if (i % 3 == 0) work_for(std::chrono::nanoseconds(i * 17));  // around the time at which threads sleep
    }
    CHECK(n_wrong == 0);
  }
}

TEST_CASE("close loops: exceptions arrive, and loops inside of loops stay on their thread", "[core]") {
  const ThreadCount set(3);
  const CloseLoops close;
  for (int repeat = 0; repeat < 200; ++repeat) {
    CHECK(message_of<SolverError>([] {
            parallel_for(20, [](std::ptrdiff_t i) {
              const CloseLoops inside;
              if (CloseLoops::pay()) throw SolverError("test", "pays inside of a loop");
              parallel_for(3, [&](std::ptrdiff_t) {
                if (i % 10 == 7) throw SolverError("test", "index {}", i);
              });
            });
          }) == "[test] index 7");
  }
  CHECK(calls(10) == std::vector<int>(10, 1));
}

TEST_CASE("close loops: several threads may have them at once, and change the number of threads", "[core]") {
  const ThreadCount set(2);
  std::vector<int> n_wrong(3, 0);
  std::vector<std::thread> threads;
  for (int& wrong : n_wrong) {
    threads.emplace_back([&wrong] {
      const std::vector<int> once(20, 1);
      for (int i = 0; i < 300; ++i) {
        const CloseLoops close;
        for (int k = 0; k < 5; ++k) wrong += calls(20) == once ? 0 : 1;
        if (i % 50 == 0) set_threads(2 + i / 50 % 2);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(n_wrong == std::vector<int>(3, 0));
}

TEST_CASE("close loops: they pay while one exists and every thread has a processor", "[core]") {
  CHECK_FALSE(CloseLoops::pay());
  {
    const ThreadCount one(1);
    const CloseLoops close;
    CHECK_FALSE(CloseLoops::pay());
  }
  const ThreadCount set(2);
  const CloseLoops close;
  CHECK(CloseLoops::pay() == has_processors(2));
  const ThreadCount many(1000);
  CHECK_FALSE(CloseLoops::pay());
}

TEST_CASE("close loops: a thread that comes late stops them for 100 ms", "[core]") {
  if (!has_processors(2)) return;
  const ThreadCount set(2);
  const CloseLoops close;
  wait_for_other(std::chrono::milliseconds(5));
  const auto late = std::chrono::steady_clock::now();
  CHECK_FALSE(CloseLoops::pay());
  while (!CloseLoops::pay() && std::chrono::steady_clock::now() - late < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(CloseLoops::pay());
  CHECK(std::chrono::steady_clock::now() - late > std::chrono::milliseconds(50));
}

TEST_CASE("close loops: threads sleep when nothing comes any more", "[core]") {
  const ThreadCount set(2);
  {
    const CloseLoops close;
    for (int i = 0; i < 100; ++i) static_cast<void>(calls(20));
  }
  const std::clock_t before = std::clock();  // of all threads of the process
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.1);
}

TEST_CASE("set_threads: less than one and absurdly many are refused", "[core]") {
  const ThreadCount set(2);
  CHECK_THAT(error_of<InvalidArgument>([] { set_threads(0); }),
             HasId("wrong_number", {"[core::set_threads]", "1024"}));
  CHECK_THROWS_AS(set_threads(1025), InvalidArgument);
  CHECK(threads() == 2);
}
