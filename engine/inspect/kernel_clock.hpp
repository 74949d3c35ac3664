// SPDX-License-Identifier: Apache-2.0
// Small on purpose: plans are described without running anything.
// Inside of the engine: how long kernels take, each alone.
#pragma once

#include "engine/compile/lower.hpp"

#include <map>
#include <optional>
#include <string>

namespace lodestone::engine {

/// Times launches on arrays of numbers between 1/4 and 3/4, each kind of launch once.
class KernelClock {
 public:
  /// `most_bytes`: of the operands of a launch that is timed.
  explicit KernelClock(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Returns the median of a few calls, s. None: its operands are too large, or it refuses such numbers.
  [[nodiscard]] std::optional<double> seconds(const Lowered& plan, const Launch& launch);

 private:
  std::size_t most_bytes_;
  std::map<std::string, std::optional<double>> known_;
};

}  // namespace lodestone::engine
