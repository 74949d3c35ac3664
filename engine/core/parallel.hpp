// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one contract that all parallel loops use.
#pragma once

#include <cstddef>
#include <functional>

namespace lodestone::core {

inline constexpr int most_threads = 1024;

/// Threads that share the work of `parallel_for` in this process, the caller among them. 1 until set;
/// `MpiScope` sets `default_threads`.
[[nodiscard]] int threads();
/// From the next `parallel_for` on. errors: InvalidArgument outside 1 … 1024.
void set_threads(int n);
/// Returns the number of this thread: 1 … threads() − 1 for those of the pool, 0 for any other.
[[nodiscard]] int thread_index();

/// Calls work(0), …, work(n − 1), each once, and returns when all are done. Indices are handed out in their
/// order to whichever thread is free, so the largest work should come first. Calls inside `work`, and from a
/// second thread at the same time, run on the thread that makes them. `work` must not call collective
/// functions. errors: what work(i) throws, of several i that of the smallest; larger ones may then not be
/// called.
void parallel_for(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& work);

/// Loops that follow each other closely. While one exists, threads that are done with a loop look out for the
/// next one for some 50 µs before they sleep. It then reaches them within a microsecond. Inside of
/// `parallel_for` it changes nothing.
class CloseLoops {
 public:
  CloseLoops();
  ~CloseLoops();
  CloseLoops(const CloseLoops&) = delete;
  CloseLoops& operator=(const CloseLoops&) = delete;

  /// Returns true where loops of a few microseconds are worth sharing: one exists, and there are as many
  /// processors as threads. Within the last 100 ms no thread may have come late again and again, as beside
  /// other programs. No result may depend on it.
  [[nodiscard]] static bool pay();

 private:
  bool counts_;
};

}  // namespace lodestone::core
