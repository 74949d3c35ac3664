// SPDX-License-Identifier: Apache-2.0
#include "dc/survey.hpp"

#include "engine/core/error.hpp"

#include <cmath>

namespace dc {

void Survey::validate() const {
  if (spacings.empty())
    throw lodestone::core::InvalidArgument("dc::Survey#no_spacing",
                                           "expected at least one spacing, but the list is empty");
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

Survey survey_of(const lodestone::core::Table& readings) {
  Survey survey;
  const std::vector<double>&half_ab_m = readings.numbers("half_ab_m"), &mn_m = readings.numbers("mn_m");
  for (std::size_t i = 0; i < half_ab_m.size(); ++i) survey.spacings.push_back({half_ab_m[i], 0.5 * mn_m[i]});
  survey.validate();
  return survey;
}

std::vector<double> thickness_of(const std::vector<double>& edges_m) {
  std::vector<double> thickness_m;
  for (std::size_t i = 0; i + 2 < edges_m.size(); ++i) thickness_m.push_back(edges_m[i + 1] - edges_m[i]);
  return thickness_m;
}

}  // namespace dc
