// SPDX-License-Identifier: Apache-2.0
// Small on purpose: plans and time line need no more of each other.
// Inside of the engine: launches of a plan as events of the time line.
#pragma once

#include "engine/compile/lower.hpp"
#include "engine/core/timeline.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Writes the launches of one run at a time to the time line, each from the end of the one before.
class LaunchEvents {
 public:
  /// Starts a row of launches. While nothing is recorded, `add` does nothing.
  void begin(const Lowered& plan) {
    begin_ = core::Timeline::is_on() ? core::Timeline::now() : 0;
    if (begin_ != 0 && events_.empty()) describe(plan);
  }
  /// Ends a launch, by its number.
  void add(std::uint32_t launch) {
    if (begin_ != 0) write(launch);
  }

 private:
  void describe(const Lowered& plan);
  void write(std::uint32_t launch);
  core::Timeline::Ticks begin_ = 0;
  std::vector<core::Timeline::Event> events_;  ///< by launch, but for their times
};

}  // namespace lodestone::engine
