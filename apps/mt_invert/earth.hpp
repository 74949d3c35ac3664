// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config.hpp"
#include "apps/mt_invert/observations.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <optional>

namespace lodestone::mt_invert {

/// The unknowns' grid and the models to start from and to stay near.
struct Earth {
  physics::mesh::TensorGrid2D grid;
  physics::mesh::Surface2D surface;
  Eigen::VectorXd start_log10, reference_log10;  ///< (n_cells)
  std::optional<physics::mesh::Sea> sea{};
};

/// errors: those of the model readers, ConfigError when the grid is impossible.
[[nodiscard]] Earth make_earth(const Config& config, const Observations& observations);

/// The grid from `GridConfig`; zeros are chosen from station spacing and skin depths of the apparent resistivities.
[[nodiscard]] physics::mesh::TensorGrid2D make_grid(const GridConfig& config, const physics::mt::ObservedData& data);

/// log10 resistivity of a section at the cell centres of another grid (depths from the surface where both are draped).
[[nodiscard]] Eigen::VectorXd sampled_log10(const physics::mesh::Section2D& section, const physics::mesh::TensorGrid2D& grid);

}  // namespace lodestone::mt_invert
