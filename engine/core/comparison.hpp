// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace lodestone::core {

/// One number compared with its reference.
struct Comparison {
  std::string what;        ///< "TE 0.1 s y = 250 m ρₐ"
  std::string units = {};  ///< units of both numbers
  double reference = 0.0, ours = 0.0;
  double limit = 0.0;  ///< largest difference, in `difference_units`
  double difference = 0.0;
  std::string difference_units = {};
  bool judged = true;  ///< false: shown only (a site next to a contact)
  /// Returns whether the difference is within the limit; one that is no number never is.
  [[nodiscard]] bool passed() const { return std::abs(difference) <= limit; }
};

/// Returns whether all comparisons that are judged pass; false where there are no comparisons.
[[nodiscard]] inline bool all_pass(const std::vector<Comparison>& comparisons) {
  return !comparisons.empty() && std::ranges::all_of(comparisons, [](const Comparison& each) {
    return !each.judged || each.passed();
  });
}

}  // namespace lodestone::core
