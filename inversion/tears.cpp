// SPDX-License-Identifier: Apache-2.0
#include "inversion/tears.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion {

using physics::mesh::Point2D;

void check(const Tear& tear) {
  constexpr const char* component = "inversion::Tear";
  if (tear.points.size() < 2) throw core::InvalidArgument(component, "expected at least two points, got {}", tear.points.size());
  for (const Point2D& point : tear.points) {
    if (!std::isfinite(point.y_m) || !std::isfinite(point.z_m))
      throw core::InvalidArgument(component, "expected finite points, got y = {} m, z = {} m", point.y_m, point.z_m);
  }
  if (!(tear.weight >= 0.0 && tear.weight <= 1.0))
    throw core::InvalidArgument(component, "expected a weight from 0 to 1, got {}", tear.weight);
}

double weight_across(const std::vector<Tear>& tears, Point2D a, Point2D b) {
  double weight = 1.0;
  for (const Tear& tear : tears) {
    for (std::size_t i = 0; i + 1 < tear.points.size(); ++i) {
      if (physics::mesh::segments_meet({a, b}, {tear.points[i], tear.points[i + 1]})) weight = std::min(weight, tear.weight);
    }
  }
  return weight;
}

Eigen::Index n_faces_crossed(const physics::mesh::TensorGrid2D& grid, const Tear& tear) {
  const std::vector<Tear> alone{{tear.points, 0.0}};
  const auto centre = [&](int iz, int iy) { return Point2D{grid.y_centre_m(iy), grid.z_centre_m(iz)}; };
  Eigen::Index n = 0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      if (iy + 1 < grid.n_y() && weight_across(alone, centre(iz, iy), centre(iz, iy + 1)) == 0.0) ++n;
      if (iz + 1 < grid.n_z() && weight_across(alone, centre(iz, iy), centre(iz + 1, iy)) == 0.0) ++n;
    }
  }
  return n;
}

}  // namespace lodestone::inversion
