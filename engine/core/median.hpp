// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one number.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lodestone::core {

/// Returns the median of the finite values, of an even number the larger of both in the middle; NaN of none.
[[nodiscard]] inline double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace lodestone::core
