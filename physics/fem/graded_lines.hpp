// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace lodestone::physics::fem {

/// A place that requires small cells around it.
struct SizeFeature {
  double at_m = 0.0;
  double size_m = 0.0;
};

/// The growth of cell sizes away from the features: size(x) = min over features of size_f + slope · |x −
/// x_f|, and with `far_slope` beyond `near_m`.
struct GradedLineOptions {
  double slope = 0.2;  ///< near the features; a slope s gives neighbours a ratio of about 1 + s
  double far_slope = 0.5;
  double near_m = 0.0;  ///< distance within which `slope` holds
  double max_size_m = 1e300;
  double least_spacing =
      0.5;  ///< anchors closer to the previous line than this share of the size required there are dropped
  bool even = false;  ///< an even number of cells between anchors, unless one suffices: every second line of
                      ///< such lines keeps the anchors
  std::vector<double> kept_m{};  ///< lines that stay however close they are; anchors give way to them
};

/// Returns grid lines from `begin` to `end`. They pass through all lines to keep, and through the `anchors`
/// but for those that would make cells far smaller than required. errors: InvalidArgument without features or
/// when the interval is empty.
[[nodiscard]] std::vector<double> graded_lines(double begin_m, double end_m,
                                               const std::vector<double>& anchors_m,
                                               const std::vector<SizeFeature>& features,
                                               const GradedLineOptions& options);

/// Returns the points from `begin` outwards over at least `length`, in the direction 1 or −1. Cells grow by
/// half from `first`. `begin` is not among the points.
[[nodiscard]] std::vector<double> lines_outward(double begin_m, double length_m, double first_m,
                                                double direction);

}  // namespace lodestone::physics::fem
