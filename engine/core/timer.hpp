// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/timeline.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace lodestone::core {

/// Totals of one named region over the life of the process.
struct TimerTotal {
  std::int64_t calls = 0;
  double seconds = 0.0;
  double flops = 0.0;  ///< counted by the region itself, 0 where it does not count
  double bytes = 0.0;
};

/// Sums up the timed regions of this rank, of all its threads: seconds of a region that several threads
/// enter add up. Regions nest; the same name accumulates.
class TimerTotals {
 public:
  static TimerTotals& global();

  void add_work(std::string_view region, double flops, double bytes);
  [[nodiscard]] std::map<std::string, TimerTotal, std::less<>> totals() const;
  /// Returns one line per region: calls, seconds, share of wall time, GFLOP/s and GB/s (of one thread) where
  /// counted.
  [[nodiscard]] std::string table() const;
  void clear();

 private:
  TimerTotals() = default;
  std::atomic<std::chrono::steady_clock::time_point> start_ =
      std::chrono::steady_clock::now();  ///< wall time counts from here
};

/// Times the enclosing scope: `const ScopedTimer timer("mt2d/factorize");` The scope is an event of the
/// `Timeline` as well.
class ScopedTimer {
 public:
  explicit ScopedTimer(std::string_view region);
  ~ScopedTimer();
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  [[nodiscard]] double seconds() const;

 private:
  friend class TimerTotals;
  struct Region;
  static Region& region_of(std::string_view name);
  Region& region_;
  Timeline::Ticks begin_ticks_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lodestone::core
