// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one rule, which the history of a run alone decides.
#pragma once

#include "inversion/optimize/optimizer.hpp"

#include <optional>
#include <span>
#include <string>

namespace lodestone::inversion::optimize {

/// The target of a run whose data do not allow the one asked for.
struct RaisedTarget {
  double rms = 0.0;
  std::size_t after = 0;  ///< row of the history with whose model the rms stopped falling

  /// Returns where and why it was raised, in words. `asked`: the target before.
  [[nodiscard]] std::string in_words(double asked, std::span<const IterationRecord> history) const;
};

/// Returns the raised target, if a history calls for one: 1.05 times the least rms. Above the target `asked`
/// two iterations in a row that lower the rms by less than 5 % call for it. An earlier model at `asked` rules
/// it out. These numbers are this program's (docs/results/defaults.md).
[[nodiscard]] std::optional<RaisedTarget> raised_target(double asked,
                                                        std::span<const IterationRecord> history);
/// Returns the raised target of a history whose next step lowers the rms nowhere.
[[nodiscard]] RaisedTarget raised_now(std::span<const IterationRecord> history);

}  // namespace lodestone::inversion::optimize
