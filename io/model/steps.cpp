// SPDX-License-Identifier: Apache-2.0
#include "io/model/steps.hpp"

#include "physics/mt/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::io::model {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Earth;
using physics::mesh::Point;
using physics::mesh::TensorGrid;

/// Returns the edges of layers in z: steps over the relief, then the layers of the grid.
std::vector<double> step_edges(const Earth& earth, double top_m) {
  constexpr double most_steps = 60.0;
  const std::vector<double>& z = earth.grid.z_edges_m();
  const bool is_draped = earth.grid.reference() == DepthReference::surface;
  const double lowest_m = std::max(earth.surface.lowest_m(), top_m), relief_m = lowest_m - top_m;
  const double step_m = std::max(z[1] - z[0], relief_m / most_steps), n_steps = std::ceil(relief_m / step_m);
  std::vector<double> edges{top_m};
  for (double k = 1.0; k <= n_steps; ++k) edges.push_back(top_m + relief_m * k / n_steps);
  for (const double each : z) {
    const double below_m = is_draped ? lowest_m + each : each;
    if (below_m > edges.back() + 0.5 * (z[1] - z[0])) edges.push_back(below_m);
  }
  return edges;
}

/// Returns what is at a point in true position.
double ohm_m_at(const Earth& earth, const Eigen::VectorXd& values, const Point& at) {
  const double surface_m = earth.surface.z_at(at.x_m, at.y_m);
  if (at.z_m < surface_m)
    return earth.sea && at.z_m > earth.sea->level_m ? earth.sea->resistivity_ohm_m
                                                    : physics::mt::largest_resistivity_ohm_m;
  const bool is_draped = earth.grid.reference() == DepthReference::surface;
  return values[earth.grid.nearest({at.x_m, at.y_m, is_draped ? at.z_m - surface_m : at.z_m})];
}

}  // namespace

physics::mesh::Model in_steps(const physics::mesh::Model& model) {
  const Earth& earth = model.earth;
  const double highest_m = earth.surface.highest_m(),
               top_m = earth.sea ? std::min(highest_m, earth.sea->level_m) : highest_m;
  const std::vector<double> true_z_m = step_edges(earth, top_m);
  std::vector<double> depths_m;
  for (const double z : true_z_m) depths_m.push_back(z - top_m);
  TensorGrid grid({.x_m = earth.grid.edges_m(Axis::x), .y_m = earth.grid.y_edges_m(), .z_m = depths_m});
  const Eigen::VectorXd values = resistivity_ohm_m(model);
  Eigen::VectorXd steps(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy)
      for (int ix = 0; ix < grid.n_x(); ++ix)
        steps[grid.index(iz, iy, ix)] = ohm_m_at(
            earth, values, {grid.centre_m(Axis::x, ix), grid.y_centre_m(iy), top_m + grid.z_centre_m(iz)});
  return physics::mesh::resistivity_model({std::move(grid), physics::mesh::Surface(top_m)}, std::move(steps));
}

}  // namespace lodestone::io::model
