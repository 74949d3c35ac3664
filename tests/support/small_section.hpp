// SPDX-License-Identifier: Apache-2.0
// Small 2-D problems shared by the physics tests: quick to solve, but with every feature (contrasts, slopes,
// both modes, the tipper).
#pragma once

#include "engine/core/random.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <cmath>
#include <vector>

namespace lodestone::tests {

/// Returns 4 columns × 3 rows of random resistivities between 10 and 300 ohm m, flat or under a hill of 300
/// m.
inline physics::mesh::Model small_section(bool with_hill) {
  physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({-5000, -1000, 300, 1000, 5000}, {0, 200, 700, 2000});
  Eigen::VectorXd resistivity(grid.n_cells());
  const core::Philox random(3);
  for (Eigen::Index i = 0; i < resistivity.size(); ++i)
    resistivity[i] = std::pow(10.0, 1.0 + 1.5 * random.uniform(static_cast<std::uint64_t>(i)));
  auto surface = with_hill ? physics::mesh::SurfaceLine({-2000, -500, 500, 2000}, {0, -300, -300, 0})
                           : physics::mesh::SurfaceLine(0.0);
  return physics::mesh::resistivity_model({std::move(grid), std::move(surface)}, std::move(resistivity));
}

inline std::vector<physics::mt::Datum> all_quantities() {
  std::vector<physics::mt::Datum> quantities;
  for (const auto& rule : physics::mt::datum_rules()) {
    if (physics::mt::section_elements.contains(rule.needs))
      quantities.push_back(physics::mt::datum_from(rule.name));
  }
  return quantities;
}

/// Returns three stations, two frequencies, every quantity.
inline physics::mt::Survey small_survey() {
  return physics::mt::full_survey({{"a", -1500.0}, {"b", 120.0}, {"c", 1100.0}}, {1.0, 10.0},
                                  all_quantities());
}

/// The simulation of `small_survey` over `small_section` on coarse meshes.
inline std::shared_ptr<const physics::mt::d2::Simulation> small_simulation(MPI_Comm comm, bool with_hill) {
  const auto section = small_section(with_hill);
  auto meshes = physics::mt::d2::design_meshes(
      section, small_survey(), physics::mt::d2::design_options(physics::mt::d2::Accuracy::iteration));
  return physics::mt::d2::simulation_of(comm, section.earth, small_survey(), std::move(meshes));
}

/// The map from resistivities of `small_section` to the data of `small_survey`.
inline core::MapPtr small_data_map(MPI_Comm comm, bool with_hill) {
  return physics::mt::d2::data_map(small_simulation(comm, with_hill), small_survey());
}

}  // namespace lodestone::tests
