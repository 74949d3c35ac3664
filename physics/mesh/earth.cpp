// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/earth.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mesh {

double true_z_m(const TensorGrid& grid, double grid_z_m, double surface_m) {
  if (grid.reference() == DepthReference::surface) return surface_m + grid_z_m;
  return grid_z_m <= grid.edges().z_m.front() ? surface_m : std::max(grid_z_m, surface_m);
}

double true_z_m(const Earth& earth, const Point& in_grid) {
  return true_z_m(earth.grid, in_grid.z_m, earth.surface.z_at(in_grid.x_m, in_grid.y_m));
}

Earth earth_of(const Section2D& section) { return {section.grid, section.surface, section.sea}; }

Model model_of(const Section2D& section) {
  return {earth_of(section), {}, section.resistivity_ohm_m.array().log10().matrix()};
}

Section2D section_of(const Model& model) {
  if (model.property.name != "resistivity" || model.property.units != "ohm m")
    throw core::InvalidArgument("mesh::section_of", "expected a resistivity in ohm m, got {} in {}",
                                model.property.name, model.property.units);
  if (model.earth.grid.dimension() != 2)
    throw core::InvalidArgument("mesh::section_of", "expected a grid along y and z, got one with {} axes",
                                model.earth.grid.dimension());
  Eigen::VectorXd values = model.values;
  if (model.property.scale == Scale::log10) values = Eigen::pow(10.0, values.array());
  return {model.earth.grid, std::move(values), model.earth.surface.profile(), model.earth.sea};
}

}  // namespace lodestone::physics::mesh
