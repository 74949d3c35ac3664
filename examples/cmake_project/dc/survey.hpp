// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dc {

/// One reading of a Schlumberger sounding: current electrodes at ±ab/2, potential electrodes at ±mn/2 around
/// the same middle.
struct Spacing {
  double half_ab_m = 0.0, half_mn_m = 0.0;
};

/// What a DC simulation predicts: one apparent resistivity per spacing, in this order.
struct Survey {
  std::vector<Spacing> spacings;

  /// errors: InvalidArgument when there is no spacing or one that is not 0 < MN/2 < AB/2.
  void validate() const;
};

/// `n` spacings evenly in log AB/2, with MN/2 = AB/20. errors: InvalidArgument.
[[nodiscard]] Survey schlumberger_survey(double smallest_half_ab_m, double largest_half_ab_m, int n);

}  // namespace dc
