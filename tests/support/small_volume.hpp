// SPDX-License-Identifier: Apache-2.0
// Small 3-D problems shared by the physics tests: quick to solve, with contrasts on all sides and every
// element.
#pragma once

#include "engine/core/random.hpp"
#include "physics/mt/d3/simulation.hpp"

#include <cmath>
#include <vector>

namespace lodestone::tests {

/// 3 × 3 × 3 cells of random resistivities between 10 and 300 ohm m.
inline physics::mesh::Model small_volume() {
  physics::mesh::TensorGrid grid(physics::mesh::Edges{
      .x_m = {-2000, -600, 500, 2000}, .y_m = {-1500, -400, 700, 2000}, .z_m = {0, 300, 1000, 3000}});
  Eigen::VectorXd resistivity(grid.n_cells());
  const core::Philox random(11);
  for (Eigen::Index i = 0; i < resistivity.size(); ++i)
    resistivity[i] = std::pow(10.0, 1.0 + 1.5 * random.uniform(static_cast<std::uint64_t>(i)));
  return physics::mesh::resistivity_model({std::move(grid)}, std::move(resistivity));
}

/// Two stations off the lines of the grid, each the reference of the other; two frequencies.
inline std::vector<physics::mt::Station> volume_stations() {
  physics::mt::Station a{"a", 130.0}, b{"b", -700.0};
  a.x_m = -90.0;
  b.x_m = 800.0;
  a.reference = "b";
  b.reference = "a";
  return {a, b};
}
inline std::vector<double> volume_frequencies_hz() { return {10.0, 0.01}; }
inline physics::mt::Survey volume_survey() { return {volume_stations(), volume_frequencies_hz(), {}}; }

/// Every element of these, impedances and tippers by default, at these stations and frequencies.
inline physics::mt::ResponseLayout full_layout(int n_frequencies, int n_stations,
                                               physics::mt::Elements elements = physics::mt::all_impedances |
                                                                                physics::mt::all_tippers) {
  std::vector<physics::mt::ResponseKey> keys;
  for (const physics::mt::Element element : physics::mt::all_elements) {
    if (!elements.contains(element)) continue;
    for (int f = 0; f < n_frequencies; ++f) {
      for (int s = 0; s < n_stations; ++s) keys.push_back({element, f, s});
    }
  }
  return physics::mt::ResponseLayout(std::move(keys));
}

/// Rules of coarse meshes.
inline physics::mt::d3::MeshDesignOptions coarse_design() {
  auto options = physics::mt::d3::design_options(physics::mt::d3::Accuracy::iteration);
  options.max_edges = 6e3;
  return options;
}

/// Every element at `volume_survey` over `small_volume` on coarse meshes.
inline std::shared_ptr<const physics::mt::d3::Simulation> small_volume_simulation(
    MPI_Comm comm, const physics::mt::d3::SimulationOptions& options = {}) {
  const auto model = small_volume();
  return std::make_shared<const physics::mt::d3::Simulation>(
      comm, model.earth, full_layout(2, 2, physics::mt::d3::Simulation::predicted_elements),
      volume_stations(), volume_frequencies_hz(),
      physics::mt::d3::design_meshes(model, volume_survey(), coarse_design()), options);
}

/// Returns a response out of outputs in the order of a layout.
inline std::complex<double> response_of(const physics::mt::ResponseLayout& layout,
                                        const Eigen::VectorXd& outputs, const physics::mt::ResponseKey& key) {
  const Eigen::Index at = 2 * layout.find(key);
  return {outputs[at], outputs[at + 1]};
}

}  // namespace lodestone::tests
