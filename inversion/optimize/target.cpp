// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/target.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::inversion::optimize {
namespace {

constexpr double small_fall = 0.05;  // relative fall of the rms in an iteration after which it hardly falls
constexpr int n_small_falls = 2;     // such iterations one after another that raise the target
constexpr double allowance = 1.05;   // target over the least rms, which leaves room for a smoother model

}  // namespace

std::string RaisedTarget::in_words(double asked, std::span<const IterationRecord> history) const {
  const IterationRecord& row = history[after];
  return fmt::format(
      "the target was raised from {:g} to {:.4g} after iteration {}: there the rms hardly fell any more "
      "({:.4f} after {:.4f})",
      asked, rms, row.iteration, row.rms, row.rms_at_start);
}

RaisedTarget raised_now(std::span<const IterationRecord> history) {
  const double least = std::ranges::min_element(history, {}, &IterationRecord::rms)->rms;
  return {allowance * least, history.size() - 1};
}

std::optional<RaisedTarget> raised_target(double asked, std::span<const IterationRecord> history) {
  int n = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const IterationRecord& row = history[i];
    if (row.rms <= asked) return {};
    n = row.rms > (1.0 - small_fall) * row.rms_at_start ? n + 1 : 0;
    if (n == n_small_falls) return raised_now(history.first(i + 1));
  }
  return {};
}

}  // namespace lodestone::inversion::optimize
