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
    throw core::InvalidArgument("mesh::TensorGrid#too_few_edges", "expected at least two {} edges, got {}",
                                axis, edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i] > edges[i - 1]))) {
      throw core::InvalidArgument(
          "mesh::TensorGrid#not_increasing",
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

TensorGrid::TensorGrid(Edges edges, DepthReference reference)
    : edges_(std::move(edges)), reference_(reference) {
  for (const Axis axis : all_axes) {
    if (axis == Axis::z || has(axis)) check_edges(edges_[axis], name(axis));
  }
  if (has(Axis::x) && !has(Axis::y))
    throw core::InvalidArgument(
        "mesh::TensorGrid#no_y_edges",
        "expected edges along y where there are edges along x; a section has y and z");
}

TensorGrid TensorGrid::layers(double first_m, double factor, int n) {
  return TensorGrid(Edges{.z_m = geometric_edges_m(first_m, factor, n)});
}

TensorGrid TensorGrid::section(std::vector<double> y_edges_m, std::vector<double> z_edges_m,
                               DepthReference reference) {
  check_edges(y_edges_m, "y");
  return TensorGrid(Edges{.y_m = std::move(y_edges_m), .z_m = std::move(z_edges_m)}, reference);
}

double TensorGrid::centre_m(Axis axis, int i) const {
  if (!has(axis)) return 0.0;
  const auto k = static_cast<std::size_t>(i);
  return 0.5 * (edges_[axis][k] + edges_[axis][k + 1]);
}

double TensorGrid::width_m(Axis axis, int i) const {
  if (!has(axis)) return 1.0;
  const auto k = static_cast<std::size_t>(i);
  return edges_[axis][k + 1] - edges_[axis][k];
}

Eigen::VectorXd TensorGrid::thickness_m() const {
  return Eigen::VectorXd::NullaryExpr(
      n_z(), [this](Eigen::Index iz) { return width_m(Axis::z, static_cast<int>(iz)); });
}

Box TensorGrid::extent() const {
  Box box;
  for (const Axis axis : all_axes) {
    if (has(axis)) box[axis] = {edges_[axis].front(), edges_[axis].back()};
  }
  return box;
}

int TensorGrid::nearest(Axis axis, double coordinate_m) const {
  return has(axis) ? interval_of(edges_[axis], coordinate_m) : 0;
}

Eigen::Index TensorGrid::nearest(const Point& point) const {
  return index(nearest(Axis::z, point.z_m), nearest(Axis::y, point.y_m), nearest(Axis::x, point.x_m));
}

Eigen::Index TensorGrid::at(const Point& point) const {
  for (const Axis axis : all_axes) {
    if (has(axis) && !Interval{edges_[axis].front(), edges_[axis].back()}.contains(point[axis])) return -1;
  }
  return nearest(point);
}

std::vector<double> geometric_edges_m(double first_m, double factor, int n) {
  if (!(first_m > 0.0) || !(factor > 0.0) || n < 1) {
    throw core::InvalidArgument("mesh::geometric_edges_m#wrong_spacing",
                                "expected positive first thickness, factor and number, got {} m, {}, {}",
                                first_m, factor, n);
  }
  std::vector<double> edges{0.0};
  for (double thickness = first_m; static_cast<int>(edges.size()) <= n; thickness *= factor)
    edges.push_back(edges.back() + thickness);
  return edges;
}

}  // namespace lodestone::physics::mesh
