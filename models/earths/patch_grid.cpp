// SPDX-License-Identifier: Apache-2.0
#include "models/earths/patch_grid.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::models::earths {
namespace {

constexpr const char* component = "models::PatchGrid";

void check_edges(const std::vector<double>& edges, const char* what) {
  if (edges.size() < 2)
    throw core::InvalidArgument(component, "expected at least two {}, got {}", what, edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i]))
      throw core::InvalidArgument(component, "expected finite {}, number {} is {}", what, i + 1, edges[i]);
    if (i > 0 && !(edges[i] > edges[i - 1])) {
      throw core::InvalidArgument(component, "expected {} that increase, number {} is {:g} m after {:g} m",
                                  what, i + 1, edges[i], edges[i - 1]);
    }
  }
}

}  // namespace

void check(const PatchGrid& grid) {
  check_edges(grid.depth_m, "depths");
  check_edges(grid.y_m, "edges of columns");
  if (grid.depth_m.front() < 0.0)
    throw core::InvalidArgument(component, "expected depths from 0 on, the first is {:g} m",
                                grid.depth_m.front());
  if (grid.y_m.front() != 0.0)
    throw core::InvalidArgument(component, "expected edges of columns from 0 on, the first is {:g} m",
                                grid.y_m.front());
}

PatchGrid continued_to_surface(const PatchGrid& grid, int most_rows) {
  const std::vector<double>& depth = grid.depth_m;
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
  PatchGrid whole{{above.rbegin(), above.rend()}, grid.y_m};
  whole.depth_m.insert(whole.depth_m.end(), depth.begin(), depth.end());
  return whole;
}

}  // namespace lodestone::models::earths
