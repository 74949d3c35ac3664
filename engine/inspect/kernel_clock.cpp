// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/kernel_clock.hpp"

#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/inspect/lone_launch.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace lodestone::engine {
namespace {

double seconds_of_call(const LoneLaunch& launch) {
  const auto begin = std::chrono::steady_clock::now();
  launch.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the median of several calls, after one that is not counted.
double timed(const LoneLaunch& launch) {
  constexpr double enough_s = 1e-3;
  constexpr std::size_t fewest = 3, most = 31;
  const core::CloseLoops close;  // threads look out for work, as while a plan runs
  launch.run();
  std::vector<double> times;
  for (double sum = 0.0; times.size() < most && (times.size() < fewest || sum < enough_s);
       sum += times.back())
    times.push_back(seconds_of_call(launch));
  std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
  return times[times.size() / 2];
}

}  // namespace

std::optional<double> KernelClock::seconds(const Lowered& plan, const Launch& launch) {
  const auto [at, is_new] = known_.try_emplace(kind_of(plan, launch));
  if (!is_new) return at->second;
  if (bytes_of_operands(plan, launch) > most_bytes_) return std::nullopt;
  try {
    at->second = timed(LoneLaunch(plan, launch));
  } catch (const core::Error&) {  // a kernel may refuse such numbers; its time stays unknown
  }
  return at->second;
}

}  // namespace lodestone::engine
