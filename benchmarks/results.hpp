// SPDX-License-Identifier: Apache-2.0
// What the benchmark programs share: rows of results as JSON, clocks, and the machine's own rates as floors.
#pragma once

#include "engine/core/timer.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::bench {

using Totals = std::map<std::string, core::TimerTotal, std::less<>>;

/// One measured number. `peer` is what it is compared with in the same run; ratio = peer_value / value where
/// smaller is better.
struct Result {
  std::string name, metric, unit;
  double value = 0.0;
  std::optional<double> target = {};  ///< met when value ≤ target
  std::optional<std::string> peer = {};
  std::optional<double> peer_value = {};
  std::optional<std::string> kernels = {};  ///< kernels that computed it: "conv f32: cpu.direct, …"
};

class Results {
 public:
  void add(Result result);
  /// Does the work once and adds its wall time ("s") and this rank's CPU time ("s CPU").
  void add_timed(const std::string& name, const std::string& metric, const std::function<void()>& work);
  /// Adds the seconds of timed regions; where they count their work, its rate and, as peer, the least time it
  /// can take at the given rates.
  void add_profile(const std::string& name, const Totals& totals, double flops_per_s, double bytes_per_s);
  /// {"header": …, "results": […]} on standard output. `command` is what repeats the run.
  void print(int ranks, const std::string& command) const;

 private:
  std::vector<Result> results_;
};

/// Returns the smallest CPU time of `repeats` calls in seconds: equals wall time for one thread on an idle
/// machine, and is not stretched by other programs.
[[nodiscard]] double best_cpu_seconds(int repeats, const std::function<void()>& work);

/// The regions that the work times (core::TimerTotals), each with its shortest wall time of `repeats` calls.
[[nodiscard]] Totals best_totals(int repeats, const std::function<void()>& work);

/// Rates of this machine on one core, measured now: the floors beside which work is reported.
struct MachineRates {
  double zgemm_flops_per_s = 0.0, dgemm_flops_per_s = 0.0;  ///< 512 × 512 matrices, real flops
  double copy_bytes_per_s = 0.0;                            ///< read and written, 128 MiB
};
[[nodiscard]] MachineRates measure_rates();

}  // namespace lodestone::bench
