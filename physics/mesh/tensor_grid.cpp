// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/tensor_grid.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace lodestone::physics::mesh {

namespace {

void check_edges(const std::vector<double>& edges, std::string_view axis) {
  if (edges.size() < 2)
    throw core::InvalidArgument("mesh::TensorGrid2D", "expected at least two {} edges, got {}", axis,
                                edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i] > edges[i - 1]))) {
      throw core::InvalidArgument(
          "mesh::TensorGrid2D",
          "expected finite, increasing {} edges, got {} m at edge {}; check the cell widths", axis, edges[i],
          i);
    }
  }
}

int interval_of(const std::vector<double>& edges, double x) {
  const auto right = std::upper_bound(edges.begin(), edges.end(), x) - edges.begin();
  return static_cast<int>(
      std::clamp<std::ptrdiff_t>(right - 1, 0, static_cast<std::ptrdiff_t>(edges.size()) - 2));
}

}  // namespace

TensorGrid2D::TensorGrid2D(std::vector<double> y_edges_m, std::vector<double> z_edges_m,
                           DepthReference reference)
    : y_edges_m_(std::move(y_edges_m)), z_edges_m_(std::move(z_edges_m)), reference_(reference) {
  check_edges(y_edges_m_, "y");
  check_edges(z_edges_m_, "z");
}

int TensorGrid2D::column_of(double y_m) const { return interval_of(y_edges_m_, y_m); }
int TensorGrid2D::row_of(double z_m) const { return interval_of(z_edges_m_, z_m); }

std::vector<double> geometric_edges_m(double first_m, double factor, int n) {
  if (!(first_m > 0.0) || !(factor > 0.0) || n < 1) {
    throw core::InvalidArgument("mesh::geometric_edges_m",
                                "expected positive first thickness, factor and number, got {} m, {}, {}",
                                first_m, factor, n);
  }
  std::vector<double> edges{0.0};
  for (double thickness = first_m; static_cast<int>(edges.size()) <= n; thickness *= factor)
    edges.push_back(edges.back() + thickness);
  return edges;
}

}  // namespace lodestone::physics::mesh
