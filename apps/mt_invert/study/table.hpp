// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/selftest/selftest.hpp"
#include "apps/mt_invert/study/contest.hpp"

namespace lodestone::mt_invert::study {

/// Quantile of numbers in any order, linear between the sorted ones (Hyndman & Fan 1996, definition 7); NaN
/// without any.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// The cases, a table for each noise; then, where there are any, variants of the weights and medians with
/// quartiles of the families.
[[nodiscard]] std::string contest_tables(const std::vector<ContestEntry>& entries);

/// The targets as comparisons. `judge_all` false: only that data are fitted, and not beyond their noise; a
/// network of a few epochs can do no more.
[[nodiscard]] std::vector<selftest::SelftestRow> contest_rows(const std::vector<ContestEntry>& entries,
                                                              bool judge_all);

/// Every entry with all its figures, for programs.
[[nodiscard]] std::vector<selftest::SelftestRun> contest_runs(const std::vector<ContestEntry>& entries);

}  // namespace lodestone::mt_invert::study
