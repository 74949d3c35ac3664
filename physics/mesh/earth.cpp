// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/earth.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

void require_resistivity(const Property& property, std::string_view component) {
  if (property.name != "resistivity" || property.units != "ohm m")
    throw core::InvalidArgument(std::string(component) + "#not_resistivity",
                                "expected a resistivity in ohm m, got {} in {}; convert it first",
                                property.name, property.units);
}

}  // namespace

double true_z_m(const TensorGrid& grid, double grid_z_m, double surface_m) {
  if (grid.reference() == DepthReference::surface) return surface_m + grid_z_m;
  return grid_z_m <= grid.edges().z_m.front() ? surface_m : std::max(grid_z_m, surface_m);
}

double true_z_m(const Earth& earth, const Point& in_grid) {
  return true_z_m(earth.grid, in_grid.z_m, earth.surface.z_at(in_grid.x_m, in_grid.y_m));
}

void require_section(const Earth& earth, std::string_view component) {
  if (earth.grid.dimension() != 2)
    throw core::InvalidArgument(
        std::string(component) + "#not_a_section",
        "expected a grid along y and z, got {} axes; cut a section of the model first",
        earth.grid.dimension());
  (void)earth.surface.profile();
}

Model resistivity_model(Earth earth, Eigen::VectorXd resistivity_ohm_m) {
  return {std::move(earth), {.scale = Scale::linear}, std::move(resistivity_ohm_m)};
}

Eigen::VectorXd resistivity_ohm_m(const Model& model) {
  require_resistivity(model.property, "mesh::resistivity_ohm_m");
  if (model.property.scale == Scale::linear) return model.values;
  return Eigen::pow(10.0, model.values.array());
}

Eigen::VectorXd log10_resistivity(const Model& model) {
  require_resistivity(model.property, "mesh::log10_resistivity");
  if (model.property.scale == Scale::log10) return model.values;
  return model.values.array().log10();
}

}  // namespace lodestone::physics::mesh
