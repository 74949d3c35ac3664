// SPDX-License-Identifier: Apache-2.0
#include "models/earths/generator.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::models::earths {
TensorGrid patch_grid(std::vector<double> depth_m, std::vector<double> y_m, std::vector<double> x_m) {
  if (x_m.empty()) {
    TensorGrid section = TensorGrid::section(std::move(y_m), std::move(depth_m));
    check(section);
    return section;
  }
  TensorGrid volume({.x_m = std::move(x_m), .y_m = std::move(y_m), .z_m = std::move(depth_m)});
  check(volume);
  return volume;
}

void Generator::refuse_volume(const TensorGrid& grid) const {
  if (grid.has(physics::mesh::Axis::x))
    throw core::InvalidArgument(
        "models::Generator#needs_section",
        "{}: expected a column or a patch of a section, whose earths this family draws, "
        "got {} cells along x; take layers, blocks or random_field for volumes",
        kind(), grid.n_x());
}

void check(const TensorGrid& grid) {
  if (grid.dimension() < 2 || grid.reference() != physics::mesh::DepthReference::surface)
    throw core::InvalidArgument(
        "models::patch_grid#not_a_patch",
        "expected columns along y with depths below the surface, got a grid of {} axes "
        "whose depths count from the {}",
        grid.dimension(), grid.reference() == physics::mesh::DepthReference::surface ? "surface" : "datum");
  if (grid.z_edges_m().front() < 0.0)
    throw core::InvalidArgument("models::patch_grid#depths_above_surface",
                                "expected depths from 0 on, the first is {:g} m", grid.z_edges_m().front());
  for (const auto& edges_m : {grid.y_edges_m(), grid.edges_m(physics::mesh::Axis::x)}) {
    if (!edges_m.empty() && edges_m.front() != 0.0)
      throw core::InvalidArgument("models::patch_grid#columns_not_from_zero",
                                  "expected edges of columns from 0 on, the first is {:g} m",
                                  edges_m.front());
  }
}

TensorGrid continued_to_surface(const TensorGrid& grid, int most_rows) {
  const std::vector<double>& depth = grid.z_edges_m();
  double thickness = depth[1] - depth[0];
  double ratio = grid.n_z() > 1 ? std::max(1.0, (depth[2] - depth[1]) / thickness) : 1.0;
  // Rows h/r + h/r² + … reach h/(r − 1) at most; a row is left out where half of it would stand above the
  // surface.
  if (ratio > 1.0 && thickness / (ratio - 1.0) <= depth[0]) ratio = 1.0;
  const double least = depth[0] / (ratio > 1.0 ? 1e6 : most_rows);
  std::vector<double> above;
  for (double top = depth[0]; top > 0.0; above.push_back(top)) {
    thickness = std::max(thickness / ratio, least);
    const bool is_last = top < 1.5 * thickness || std::ssize(above) + 1 >= most_rows;
    top = is_last ? 0.0 : top - thickness;
  }
  std::vector<double> whole(above.rbegin(), above.rend());
  whole.insert(whole.end(), depth.begin(), depth.end());
  return patch_grid(std::move(whole), grid.y_edges_m(), grid.edges_m(physics::mesh::Axis::x));
}

}  // namespace lodestone::models::earths
