// SPDX-License-Identifier: Apache-2.0
// Small on purpose: lines over a grid of points, whatever the picture.
#pragma once

#include "io/report/canvas.hpp"

#include <Eigen/Core>

#include <functional>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Points of a picture in rows and columns with a value each; a value that is not finite has no lines beside
/// it. shapes: equal.
struct ContourGrid {
  Eigen::MatrixXd x, y, value;
};

/// Returns the lines on which the values, linear between neighbours, reach a level. errors: ShapeError.
[[nodiscard]] std::vector<std::vector<Point>> contour_lines(const ContourGrid& grid, double level);

/// Draws the lines of all multiples of `step` with labels where they have room. Lines of a level whose label
/// is empty are fainter. errors: ShapeError.
void draw_contours(Canvas& canvas, const ContourGrid& grid, double step, const Box& box,
                   const std::function<std::string(double)>& label);

}  // namespace lodestone::io::report
