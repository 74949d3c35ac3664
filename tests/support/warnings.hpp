// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/log.hpp"
#include "tests/support/capture.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace lodestone::tests {

/// Runs an action with its output captured, and returns the warnings that it logged. Tests compare their ids,
/// and names and numbers in their texts.
template <class Action>
[[nodiscard]] std::vector<core::log::KeptWarnings::Warning> warnings_of(Action&& action) {
  const Capture out(STDOUT_FILENO);
  const Capture err(STDERR_FILENO);
  const core::log::KeptWarnings kept;
  action();
  return kept.all();
}

/// Returns the text of the warning with this id ("component#id"); "" without one.
[[nodiscard]] inline std::string text_with(const std::vector<core::log::KeptWarnings::Warning>& warnings,
                                           std::string_view id) {
  const auto found = std::ranges::find(warnings, id, &core::log::KeptWarnings::Warning::id);
  return found == warnings.end() ? std::string() : found->text;
}

}  // namespace lodestone::tests
