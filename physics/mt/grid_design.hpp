// SPDX-License-Identifier: Apache-2.0
// Small on purpose: further dimensions add their axes here.
#pragma once

#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/observations.hpp"

namespace lodestone::physics::mt {

/// The cells of a section: uniform columns, and layers each thicker than the one above by a factor. A number
/// or thickness of 0 is chosen from the data.
struct GridOptions {
  int n_columns = 0;           ///< 0: two per station, 20 to 200
  int n_layers = 0;            ///< 0: down to 1.5 skin depths of the longest period
  double margin = 0.05;        ///< beyond the outermost stations, as a share of the profile's length
  double first_layer_m = 0.0;  ///< 0: a twentieth of the skin depth of the shortest period
  double layer_factor = 1.15;
};

/// Returns the median of log10 ρₐ of the used data, that of 100 ohm m without any.
[[nodiscard]] double median_log10_rho(const Observations& data);

/// Designs a grid of uniform columns and layers that thicken with depth, which counts from the surface. Skin
/// depths are those of the median apparent resistivity. The columns of a lone station reach as far aside as
/// its longest period sees down. errors: those of `TensorGrid`.
[[nodiscard]] mesh::TensorGrid design_grid(const Observations& data, const GridOptions& options = {});

}  // namespace lodestone::physics::mt
