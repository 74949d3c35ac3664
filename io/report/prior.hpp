// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"

#include <Eigen/Core>

#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Random draws of a prior, on columns or on patches of a section.
struct PriorDraws {
  std::string title;
  std::vector<double> depth_m;        ///< interfaces, increasing, n_z + 1
  std::vector<double> y_m;            ///< edges of the columns, n_y + 1; two for a single column
  Eigen::MatrixXd log10_resistivity;  ///< (n_z·n_y, n), cells row by row from the top, one column for each
                                      ///< draw; what is not finite stays white
};

struct PriorPictureOptions {
  double min_log10 = std::numeric_limits<double>::quiet_NaN();  ///< lower end of the resistivity scale; NaN:
                                                                ///< from all draws, half decades
  double max_log10 = std::numeric_limits<double>::quiet_NaN();
  double width = 1000.0;  ///< width of the picture
};

/// Columns: the first 24 draws as curves over depth, each over the percentiles 5, 50 and 95 of all draws.
/// Patches: the first 16 as sections. errors: InvalidArgument (no draw, edges that do not increase);
/// ShapeError.
[[nodiscard]] Canvas prior_picture(const PriorDraws& draws, const PriorPictureOptions& options = {});

}  // namespace lodestone::io::report
