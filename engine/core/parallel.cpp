// SPDX-License-Identifier: Apache-2.0
#include "engine/core/parallel.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lodestone::core {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds, std::chrono::milliseconds;

/// A thread looks out for work, or for the end of what others do, so long before it sleeps.
constexpr microseconds spin{50};
/// Waking a thread in vain takes about so long.
constexpr microseconds vain_wake{5};
/// So much time lost in a row says that other programs need the processors; so long nobody then spins.
constexpr microseconds most_lost{200};
constexpr milliseconds pause{100};

std::atomic<int> n_threads{1};
thread_local int index_of_this_thread = 0;
thread_local bool is_working = false;

/// Lets the processor rest for some cycles.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits without sleeping; returns whether it came true in time.
template <class Condition>
bool comes_true(Clock::duration within, Condition&& condition) {
  if (condition()) return true;
  const Clock::time_point deadline = Clock::now() + within;
  do {
    for (int i = 0; i < 16; ++i) {
      relax();
      if (condition()) return true;
    }
  } while (Clock::now() < deadline);
  return false;
}

/// The loops that follow each other closely, and whether threads can keep up with them.
class Closeness {
 public:
  void enter() { ++n_scopes_; }
  void leave() { --n_scopes_; }

  [[nodiscard]] bool pays() {
    static const auto n_processors = static_cast<int>(std::thread::hardware_concurrency());
    if (n_scopes_.load(std::memory_order_relaxed) == 0 || n_threads > n_processors) return false;
    if (!is_paused_.load(std::memory_order_relaxed)) return true;
    if (Clock::now().time_since_epoch().count() < paused_until_) return false;
    is_paused_ = false;
    return true;
  }

  /// Files what a loop lost by waiting for threads, or by waking them in vain. The pool files for one thread
  /// at a time.
  void file(Clock::duration lost) {
    lost_ = lost == Clock::duration() ? lost_ / 2 : lost_ + lost;
    if (lost_ < most_lost) return;
    lost_ = {};
    paused_until_ = (Clock::now() + pause).time_since_epoch().count();
    is_paused_ = true;
  }

 private:
  std::atomic<int> n_scopes_{0};
  std::atomic<bool> is_paused_{false};
  std::atomic<Clock::rep> paused_until_{0};
  Clock::duration lost_{};
};

Closeness& closeness() {
  static Closeness all;
  return all;
}

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

/// Threads that wait until there is a loop to take part in. Who sleeps says so before a last look, and who
/// has something new looks for sleepers after: so one of the two sees the other.
class Pool {
 public:
  ~Pool() { stop(); }

  /// Runs the loop on n threads; returns false if the pool is at work for another thread. errors: those of
  /// the loop.
  bool run(Loop& loop, int n) {
    const std::unique_lock alone(running_, std::try_to_lock);
    if (!alone.owns_lock()) return false;
    resize(n - 1);
    const bool is_close = closeness().pays();
    is_close_.store(is_close, std::memory_order_relaxed);
    const std::uint64_t n_joined = n_joined_.load(std::memory_order_relaxed);
    const Clock::time_point begin = is_close ? Clock::now() : Clock::time_point();
    loop_ = &loop;
    ++n_loops_;
    const bool wakes = n_asleep_ > 0;
    if (wakes) wake(begin_);
    loop.take_part();
    loop_ = nullptr;  // a thread that comes later finds nothing
    if (is_close) wait_closely(begin, n_joined_.load(std::memory_order_relaxed) == n_joined && wakes);
    sleep_until_left();
    return true;
  }

 private:
  /// Waits some time for the others, and files what was lost.
  void wait_closely(Clock::time_point begin, bool woke_in_vain) {
    // Pieces are alike: who has done some waits for one of them at most.
    const Clock::time_point end = Clock::now();
    const bool is_late = !comes_true(end - begin + spin, [&] { return n_taking_part_ == 0; });
    if (is_late) sleep_until_left();
    closeness().file(is_late ? Clock::now() - end : woke_in_vain ? vain_wake : Clock::duration());
  }

  void sleep_until_left() {
    if (n_taking_part_ == 0) return;
    std::unique_lock lock(mutex_);
    is_awaited_ = true;
    end_.wait(lock, [&] { return n_taking_part_ == 0; });
    is_awaited_ = false;
  }

  void resize(int n) {
    if (std::ssize(workers_) == n) return;
    stop();
    try {
      for (int index = 1; index <= n; ++index)
        workers_.emplace_back([this, index, seen = n_loops_.load()] { work(index, seen); });
    } catch (const std::system_error& error) {
      log::warning(log::Id("core::parallel_for#few_threads"),
                   "{} of {} threads started ({}); set fewer by --threads or OMP_NUM_THREADS",
                   workers_.size() + 1, n + 1, error.what());
      n_threads = static_cast<int>(workers_.size()) + 1;
    }
  }

  void stop() {
    is_ending_ = true;
    wake(begin_);
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    is_ending_ = false;
  }

  void work(int index, std::uint64_t seen) {
    index_of_this_thread = index;
    const auto is_called = [&] { return is_ending_ || n_loops_ != seen; };
    while (true) {
      if (!is_close_.load(std::memory_order_relaxed) || !comes_true(spin, is_called)) sleep_until(is_called);
      if (is_ending_) return;
      seen = n_loops_;
      ++n_taking_part_;
      if (Loop* const loop = loop_) {
        n_joined_.fetch_add(1, std::memory_order_relaxed);
        loop->take_part();
      }
      if (--n_taking_part_ == 0 && is_awaited_) wake(end_);
    }
  }

  template <class Condition>
  void sleep_until(const Condition& condition) {
    std::unique_lock lock(mutex_);
    ++n_asleep_;
    begin_.wait(lock, condition);
    --n_asleep_;
  }
  void wake(std::condition_variable& sleepers) {
    { const std::lock_guard lock(mutex_); }  // who looked before sleeps by now
    sleepers.notify_all();
  }

  std::mutex running_;  ///< held by the thread whose loop it is
  std::mutex mutex_;    ///< held by those who fall asleep
  std::condition_variable begin_, end_;
  std::atomic<int> n_asleep_{0};
  std::atomic<bool> is_awaited_{false}, is_ending_{false};
  // A line of the caches for what the caller writes, and one for what the others write.
  alignas(64) std::atomic<Loop*> loop_{nullptr};
  std::atomic<std::uint64_t> n_loops_{0};
  std::atomic<bool> is_close_{false};
  alignas(64) std::atomic<int> n_taking_part_{0};
  std::atomic<std::uint64_t> n_joined_{0};  ///< in all loops so far
  alignas(64) std::vector<std::thread> workers_;
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

CloseLoops::CloseLoops() : counts_(!is_working && threads() > 1) {
  if (counts_) closeness().enter();
}
CloseLoops::~CloseLoops() {
  if (counts_) closeness().leave();
}
bool CloseLoops::pay() { return !is_working && closeness().pays(); }

}  // namespace lodestone::core
