// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/table.hpp"

#include <vector>

namespace dc {

/// One reading of a Schlumberger sounding: current electrodes at ±ab/2, potential electrodes at ±mn/2 around
/// the same middle.
struct Spacing {
  double half_ab_m = 0.0, half_mn_m = 0.0;
};

/// The output of a DC simulation: one apparent resistivity per spacing, in this order.
struct Survey {
  std::vector<Spacing> spacings;

  /// Checks the spacings. errors: InvalidArgument when there is no spacing or one that is not 0 < MN/2 <
  /// AB/2.
  void validate() const;
};

/// Returns the survey of a table with columns half_ab_m and mn_m (distance of the potential electrodes).
/// errors: InvalidArgument when a column is missing.
[[nodiscard]] Survey survey_of(const lodestone::core::Table& readings);

/// `n` spacings evenly in log AB/2, with MN/2 = AB/20. errors: InvalidArgument.
[[nodiscard]] Survey schlumberger_survey(double smallest_half_ab_m, double largest_half_ab_m, int n);

/// Returns the thicknesses of all layers but the last, which goes on without end.
[[nodiscard]] std::vector<double> thickness_of(const std::vector<double>& edges_m);

}  // namespace dc
