// SPDX-License-Identifier: Apache-2.0
#include "engine/core/timer.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/json_text.hpp"
#include "engine/core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

Timeline& Timeline::global() {
  static Timeline trace;
  return trace;
}

void Timeline::record_events(bool on) {
  const std::lock_guard lock(mutex_);
  record_ = on;
}

void Timeline::add_work(std::string_view region, double flops, double bytes) {
  const std::lock_guard lock(mutex_);
  TimerTotal& total = totals_[std::string(region)];
  total.flops += flops;
  total.bytes += bytes;
}

void Timeline::add(std::string_view region, Clock::time_point begin, Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  const auto found = totals_.find(region);
  TimerTotal& total = found != totals_.end() ? found->second : totals_[std::string(region)];
  ++total.calls;
  total.seconds += seconds_between(begin, end);
  if (record_) events_.push_back({std::string(region), thread_index(), begin, end});
}

std::map<std::string, TimerTotal, std::less<>> Timeline::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::string Timeline::table() const {
  const std::lock_guard lock(mutex_);
  const double wall = seconds_between(start_, Clock::now());
  std::size_t width = 6;
  for (const auto& [region, total] : totals_) width = std::max(width, region.size());
  std::string text = fmt::format("{:<{}} {:>8} {:>10} {:>7} {:>9} {:>9}\n", "region", width, "calls",
                                 "seconds", "% wall", "GFLOP/s", "GB/s");
  for (const auto& [region, total] : totals_) {
    fmt::format_to(std::back_inserter(text), "{:<{}} {:>8} {:>10.3f} {:>7.1f} {:>9} {:>9}\n", region, width,
                   total.calls, total.seconds, 100.0 * total.seconds / std::max(wall, 1e-9),
                   rate(total.flops, total.seconds), rate(total.bytes, total.seconds));
  }
  if (threads() > 1)
    fmt::format_to(std::back_inserter(text), "seconds of the {} threads add up\n", threads());
  return text;
}

void Timeline::write_chrome_trace(const std::string& path, int rank) const {
  const std::lock_guard lock(mutex_);
  const auto microseconds = [](Clock::duration span) {
    return std::chrono::duration<double, std::micro>(span).count();
  };
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  fmt::format_to(std::back_inserter(text),
                 R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"rank {}"}}}})", rank,
                 rank);
  for (const Event& event : events_) {
    fmt::format_to(std::back_inserter(text),
                   ",\n{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}}",
                   json_quoted(event.region), rank, event.thread, microseconds(event.begin - start_),
                   microseconds(event.end - event.begin));
  }
  text += "\n]}\n";
  write_file(path, text);
}

void Timeline::clear() {
  const std::lock_guard lock(mutex_);
  totals_.clear();
  events_.clear();
  start_ = Clock::now();
}

ScopedTimer::~ScopedTimer() { Timeline::global().add(region_, begin_, Clock::now()); }

double ScopedTimer::seconds() const { return seconds_between(begin_, Clock::now()); }

}  // namespace lodestone::core
