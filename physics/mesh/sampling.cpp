// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/sampling.hpp"

#include "engine/core/error.hpp"
#include "physics/mesh/cells.hpp"

namespace lodestone::physics::mesh {
namespace {

/// Returns a point of one grid in the coordinates of another, below or above the surface of an earth.
Point converted(Point point, DepthReference from, DepthReference to, const Surface& surface) {
  if (from == to) return point;
  const double surface_m = surface.z_at(point.x_m, point.y_m);
  point.z_m += from == DepthReference::surface ? surface_m : -surface_m;
  return point;
}

}  // namespace

Eigen::VectorXd sampled(const Earth& from, const Eigen::VectorXd& values, const TensorGrid& to) {
  if (values.size() != from.grid.n_cells())
    throw core::ShapeError("mesh::sampled#wrong_size", "expected a value for each of {} cells, got {}",
                           from.grid.n_cells(), values.size());
  const Cells cells = mesh::cells(to);
  Eigen::VectorXd result(cells.n_cells());
  for (Eigen::Index cell = 0; cell < cells.n_cells(); ++cell) {
    const Point at = converted(cells.centre[static_cast<std::size_t>(cell)], to.reference(),
                               from.grid.reference(), from.surface);
    result[cell] = values[from.grid.nearest(at)];
  }
  return result;
}

Eigen::VectorXd sampled_log10(const Model& model, const TensorGrid& to) {
  return sampled(model.earth, log10_resistivity(model), to);
}

}  // namespace lodestone::physics::mesh
