// SPDX-License-Identifier: Apache-2.0
#include "engine/core/parallel.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lodestone::core {
namespace {

constexpr int most_threads = 1024;

std::atomic<int> n_threads{1};
thread_local int index_of_this_thread = 0;
thread_local bool is_working = false;

/// One `parallel_for`.
class Loop {
 public:
  Loop(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& work)
      : n_(n), work_(work), first_failed_(n) {}

  /// Calls work until none is left.
  void take_part() {
    is_working = true;
    for (std::ptrdiff_t i = next_++; i < n_; i = next_++) {
      try {
        work_(i);
      } catch (...) {
        fail(i);
      }
    }
    is_working = false;
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Smaller indices were handed out before, so the smallest that fails is among those that run to their end.
  void fail(std::ptrdiff_t i) {
    next_ = n_;
    const std::lock_guard lock(mutex_);
    if (i >= first_failed_) return;
    first_failed_ = i;
    error_ = std::current_exception();
  }

  const std::ptrdiff_t n_;
  const std::function<void(std::ptrdiff_t)>& work_;
  std::atomic<std::ptrdiff_t> next_{0};
  std::mutex mutex_;
  std::ptrdiff_t first_failed_;
  std::exception_ptr error_;
};

/// Threads that sleep until there is a loop to take part in.
class Pool {
 public:
  ~Pool() { stop(); }

  /// Runs the loop on n threads; returns false if the pool is at work for another thread. errors: those of
  /// the loop.
  bool run(Loop& loop, int n) {
    const std::unique_lock alone(running_, std::try_to_lock);
    if (!alone.owns_lock()) return false;
    resize(n - 1);
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++n_loops_;
    }
    begin_.notify_all();
    loop.take_part();
    std::unique_lock lock(mutex_);
    loop_ = nullptr;  // a thread that wakes up later finds nothing
    end_.wait(lock, [&] { return n_taking_part_ == 0; });
    return true;
  }

 private:
  void resize(int n) {
    if (std::ssize(workers_) == n) return;
    stop();
    try {
      for (int index = 1; index <= n; ++index)
        workers_.emplace_back([this, index, seen = n_loops_] { work(index, seen); });
    } catch (const std::system_error& error) {
      log::warning(log::Id("core::parallel_for#few_threads"),
                   "{} of {} threads started ({}); set fewer by --threads or OMP_NUM_THREADS",
                   workers_.size() + 1, n + 1, error.what());
      n_threads = static_cast<int>(workers_.size()) + 1;
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    begin_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    ending_ = false;
  }

  void work(int index, std::uint64_t seen) {
    index_of_this_thread = index;
    std::unique_lock lock(mutex_);
    while (true) {
      begin_.wait(lock, [&] { return ending_ || n_loops_ != seen; });
      if (ending_) return;
      seen = n_loops_;
      if (loop_ == nullptr) continue;
      Loop& loop = *loop_;
      ++n_taking_part_;
      lock.unlock();
      loop.take_part();
      lock.lock();
      if (--n_taking_part_ == 0) end_.notify_one();
    }
  }

  std::mutex running_;  ///< held by the thread whose loop it is
  std::mutex mutex_;    ///< guards all members below but the threads themselves
  std::condition_variable begin_, end_;
  Loop* loop_ = nullptr;
  std::uint64_t n_loops_ = 0;
  int n_taking_part_ = 0;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

Pool& pool() {
  static Pool all;
  return all;
}

}  // namespace

int threads() { return n_threads; }

void set_threads(int n) {
  if (n < 1 || n > most_threads)
    throw InvalidArgument("core::set_threads#wrong_number", "expected 1 … {} threads, got {}", most_threads,
                          n);
  n_threads = n;
}

int thread_index() { return index_of_this_thread; }

void parallel_for(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& work) {
  Loop loop(n, work);
  const int n_here = threads();
  if (n > 1 && n_here > 1 && !is_working && pool().run(loop, n_here)) {
    loop.rethrow();
    return;
  }
  for (std::ptrdiff_t i = 0; i < n; ++i) work(i);
}

}  // namespace lodestone::core
