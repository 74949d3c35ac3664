// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what is made of the entries of finished parts.
#pragma once

#include "engine/core/comparison.hpp"
#include "engine/core/table.hpp"
#include "models/study/study.hpp"

#include <string>
#include <vector>

namespace lodestone::models::study {

/// Returns every entry with all its figures, a row each.
[[nodiscard]] core::Table entry_table(const std::vector<Entry>& entries);

/// Returns tables for people: the cases, one for each noise; then, where there are any, variants of the
/// weights, and medians with quartiles of the families.
[[nodiscard]] std::string tables_in_text(const std::vector<Entry>& entries);

/// Returns the targets as comparisons: data are fitted, and not beyond their noise; cases reach the published
/// residual; errors of families whose kind the prior knows are half of those in cells, of others not larger.
/// `judge_all` false: only the first is judged; a network of a few epochs can do no more.
[[nodiscard]] std::vector<core::Comparison> targets(const std::vector<Entry>& entries, bool judge_all);

}  // namespace lodestone::models::study
