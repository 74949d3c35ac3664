// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who reads rates from a file measures none.
// Inside of the engine: rates of this machine, by measurement.
#pragma once

#include "engine/inspect/calibration_ops.hpp"
#include "engine/inspect/machine_rates.hpp"

#include <functional>

namespace lodestone::engine {

struct CalibrationOptions {
  double most_s = 5.0;               ///< nothing is begun after so long, s
  int most_rounds = 11;              ///< measurements of each rate, whose median counts
  std::function<double()> now = {};  ///< a clock, s; empty: that of the system
  /// The functions whose kernels are measured, for a dtype.
  std::function<std::vector<SampleUse>(DType)> uses = sample_uses;
};

/// Measures the rates of this processor on the process's number of threads: costs of launches and shared
/// loops, passes over 64 KiB to 256 MiB, functions of an element, and kernels on some hundred kilobytes. All
/// runs on cpu:0, whatever the default device is, in half a gigabyte of memory and 5 MiB per thread. Costs
/// and passes are measured however little time there is. Where there is too little for the rest, the rates
/// are not complete. A kernel that refuses the numbers has no rate, and a warning names it. errors:
/// DeviceError where the memory cannot be had.
[[nodiscard]] MachineRates calibrated_rates(const CalibrationOptions& options = {});

}  // namespace lodestone::engine
