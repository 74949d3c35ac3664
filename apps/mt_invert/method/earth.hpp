// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/method/observations.hpp"
#include "physics/mesh/earth.hpp"

#include <vector>

namespace lodestone::mt_invert::method {

/// The earth of a run, with the models to start from and to stay near.
struct Earth : physics::mesh::Earth {
  Eigen::VectorXd start_log10, reference_log10;  ///< (n_cells); alike in fixed cells
  std::vector<Eigen::Index> free_cells{};        ///< the unknowns among the cells, in order
};

/// errors: those of the model readers, ConfigError when the grid is impossible, a sea holds no water, a tear
/// or a fixed region misses it, or no cell is free.
[[nodiscard]] Earth make_earth(const config::Config& config, const Observations& observations);

/// The grid of a run: that of the start model's file, or from `GridConfig`.
[[nodiscard]] physics::mesh::TensorGrid grid_of(const config::Config& config,
                                                const physics::mt::ObservedData& data);

/// Holds the cells of the fixed regions at their resistivity (else the reference model's) and lists the
/// others as free. errors: ConfigError when a region holds no cell or all cells are held.
void fix_regions(const std::vector<config::FixedRegionConfig>& regions, Earth& earth);

/// Logs how many faces each tear crosses and warns of the parts that lie outside the grid.
/// errors: ConfigError when a tear separates no two cells of the grid.
void check_tears(const std::vector<config::TearConfig>& tears, const physics::mesh::Earth& earth);

/// log10 resistivity of a section at the cell centres of another grid (depths from the surface where both are
/// draped).
[[nodiscard]] Eigen::VectorXd sampled_log10(const physics::mesh::Model& model,
                                            const physics::mesh::TensorGrid& grid);

}  // namespace lodestone::mt_invert::method
