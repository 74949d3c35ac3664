// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to io/report; marks the parts of a section that data do not resolve.
#pragma once

#include "io/report/canvas.hpp"
#include "physics/mesh/earth.hpp"

#include <Eigen/Core>

#include <functional>

namespace lodestone::io::report {

/// The place of a section in a picture.
struct SectionPlace {
  Box box;
  std::function<Point(double y_m, double depth_m)> at;
  double y_first_m = 0.0, y_last_m = 1.0, depth_first_m = 0.0,
         depth_last_m = 1.0;  ///< at the sides of the box
};

/// Hatches the cells whose number is below ½ and draws their outline. shapes: investigated (n_cells).
void draw_unseen(Canvas& canvas, const SectionPlace& place, const physics::mesh::Earth& earth,
                 const Eigen::VectorXd& investigated);

}  // namespace lodestone::io::report
