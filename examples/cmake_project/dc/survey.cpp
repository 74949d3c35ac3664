// SPDX-License-Identifier: Apache-2.0
#include "dc/survey.hpp"

#include "engine/core/error.hpp"

#include <cmath>

namespace dc {

void Survey::validate() const {
  if (spacings.empty())
    throw lodestone::core::InvalidArgument("dc::Survey", "expected at least one spacing, got none");
  for (const Spacing& spacing : spacings) {
    if (spacing.half_mn_m > 0.0 && spacing.half_mn_m < spacing.half_ab_m && std::isfinite(spacing.half_ab_m))
      continue;
    throw lodestone::core::InvalidArgument(
        "dc::Survey", "expected 0 < MN/2 < AB/2, got MN/2 = {} m and AB/2 = {} m; are they swapped?",
        spacing.half_mn_m, spacing.half_ab_m);
  }
}

Survey schlumberger_survey(double smallest_half_ab_m, double largest_half_ab_m, int n) {
  if (n < 2 || !(smallest_half_ab_m > 0.0) || !(largest_half_ab_m > smallest_half_ab_m))
    throw lodestone::core::InvalidArgument(
        "dc::schlumberger_survey",
        "expected two or more spacings from small to large, got {} from {} to {} m", n, smallest_half_ab_m,
        largest_half_ab_m);
  Survey survey;
  for (int i = 0; i < n; ++i) {
    const double half_ab_m =
        smallest_half_ab_m * std::pow(largest_half_ab_m / smallest_half_ab_m, i / (n - 1.0));
    survey.spacings.push_back({.half_ab_m = half_ab_m, .half_mn_m = 0.1 * half_ab_m});
  }
  return survey;
}

}  // namespace dc
