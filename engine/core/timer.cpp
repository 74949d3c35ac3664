// SPDX-License-Identifier: Apache-2.0
#include "engine/core/timer.hpp"

#include "engine/core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <unordered_map>

namespace lodestone::core {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

std::string rate(double work, double seconds) {
  return work > 0.0 && seconds > 0.0 ? fmt::format("{:.2f}", work / seconds * 1e-9) : "-";
}

}  // namespace

/// The sums of a region. Threads add to them without a lock.
struct ScopedTimer::Region {
  const std::string* name = nullptr;
  std::atomic<std::int64_t> calls{0}, nanoseconds{0};
  std::atomic<double> flops{0.0}, bytes{0.0};

  /// All regions. Never destroyed: threads may end after every other object.
  struct All {
    std::mutex mutex;
    std::map<std::string, Region, std::less<>> of_name;
  };
  static All& all() {
    static auto* const result = new All;
    return *result;
  }
  [[nodiscard]] TimerTotal total() const {
    return {calls, 1e-9 * static_cast<double>(nanoseconds.load()), flops, bytes};
  }
  void clear() {
    calls = nanoseconds = 0;
    flops = bytes = 0.0;
  }
};

/// Finds a region. Each thread remembers those that it met, so that only the first time takes a lock.
ScopedTimer::Region& ScopedTimer::region_of(std::string_view name) {
  thread_local std::unordered_map<std::string_view, Region*> known;
  if (const auto found = known.find(name); found != known.end()) return *found->second;
  Region::All& all = Region::all();
  const std::lock_guard lock(all.mutex);
  Region& region = all.of_name[std::string(name)];
  region.name = Timeline::name(name);
  known.emplace(*region.name, &region);
  return region;
}

TimerTotals& TimerTotals::global() {
  static TimerTotals totals;
  return totals;
}

void TimerTotals::add_work(std::string_view region, double flops, double bytes) {
  ScopedTimer::Region& of = ScopedTimer::region_of(region);
  of.flops += flops;
  of.bytes += bytes;
}

std::map<std::string, TimerTotal, std::less<>> TimerTotals::totals() const {
  ScopedTimer::Region::All& all = ScopedTimer::Region::all();
  const std::lock_guard lock(all.mutex);
  std::map<std::string, TimerTotal, std::less<>> result;
  for (const auto& [name, region] : all.of_name) {
    const TimerTotal total = region.total();
    if (total.calls > 0 || total.flops > 0.0 || total.bytes > 0.0) result.emplace(name, total);
  }
  return result;
}

std::string TimerTotals::table() const {
  const auto all = totals();
  const double wall = seconds_between(start_.load(), Clock::now());
  std::size_t width = 6;
  for (const auto& [region, total] : all) width = std::max(width, region.size());
  std::string text = fmt::format("{:<{}} {:>8} {:>10} {:>7} {:>9} {:>9}\n", "region", width, "calls",
                                 "seconds", "% wall", "GFLOP/s", "GB/s");
  for (const auto& [region, total] : all) {
    fmt::format_to(std::back_inserter(text), "{:<{}} {:>8} {:>10.3f} {:>7.1f} {:>9} {:>9}\n", region, width,
                   total.calls, total.seconds, 100.0 * total.seconds / std::max(wall, 1e-9),
                   rate(total.flops, total.seconds), rate(total.bytes, total.seconds));
  }
  if (threads() > 1)
    fmt::format_to(std::back_inserter(text), "seconds of the {} threads add up\n", threads());
  return text;
}

void TimerTotals::clear() {
  ScopedTimer::Region::All& all = ScopedTimer::Region::all();
  const std::lock_guard lock(all.mutex);
  for (auto& [name, region] : all.of_name) region.clear();
  start_ = Clock::now();
}

ScopedTimer::ScopedTimer(std::string_view region)
    : region_(region_of(region)),
      begin_ticks_(Timeline::is_on() ? Timeline::now() : 0),
      begin_(Clock::now()) {}

ScopedTimer::~ScopedTimer() {
  region_.calls += 1;
  region_.nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
  if (begin_ticks_ != 0 && Timeline::is_on())
    Timeline::add({region_.name, Timeline::Kind::region, begin_ticks_, Timeline::now()});
}

double ScopedTimer::seconds() const { return seconds_between(begin_, Clock::now()); }

}  // namespace lodestone::core
