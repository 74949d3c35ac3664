// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::core {

/// Totals of one named region over the life of the process.
struct TimerTotal {
  std::int64_t calls = 0;
  double seconds = 0.0;
  double flops = 0.0;  ///< counted by the region itself, 0 where it does not count
  double bytes = 0.0;
};

/// Collects the timed regions of this rank, of all its threads: seconds of a region that several threads
/// enter add up. Regions nest; the same name accumulates.
class Timeline {
 public:
  static Timeline& global();

  /// Keeps every event, not only totals, so that `write_chrome_trace` can show them.
  void record_events(bool on);
  void add_work(std::string_view region, double flops, double bytes);
  [[nodiscard]] std::map<std::string, TimerTotal, std::less<>> totals() const;
  /// Returns one line per region: calls, seconds, share of wall time, GFLOP/s and GB/s (of one thread) where
  /// counted.
  [[nodiscard]] std::string table() const;
  /// Writes the recorded events as Chrome trace JSON (chrome://tracing, Perfetto); `pid` is the rank,
  /// `tid` the thread.
  void write_chrome_trace(const std::string& path, int rank) const;
  void clear();

 private:
  friend class ScopedTimer;
  struct Event {
    std::string region;
    int thread;
    std::chrono::steady_clock::time_point begin, end;
  };
  void add(std::string_view region, std::chrono::steady_clock::time_point begin,
           std::chrono::steady_clock::time_point end);
  mutable std::mutex mutex_;
  std::map<std::string, TimerTotal, std::less<>> totals_;
  std::vector<Event> events_;
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();  ///< wall time counts from here
  bool record_ = false;
};

/// Times the enclosing scope: `const ScopedTimer timer("mt2d/factorize");`
class ScopedTimer {
 public:
  explicit ScopedTimer(std::string_view region) : region_(region), begin_(std::chrono::steady_clock::now()) {}
  ~ScopedTimer();
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  [[nodiscard]] double seconds() const;

 private:
  std::string region_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lodestone::core
