// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/observations.hpp"

namespace lodestone::physics::mt {

/// The cells of a section or a volume: uniform columns, and layers each thicker than the one above by a
/// factor. A number or thickness of 0 is chosen from the data.
struct GridOptions {
  int n_columns = 0;     ///< along y; 0: two per station, 20 to 200, in a section; in a volume as `n_rows`
  int n_rows = 0;        ///< along x of a volume; 0: two per usual distance of neighbouring stations, 8 to 60
  int n_layers = 0;      ///< 0: down to 1.5 skin depths of the longest period
  double margin = 0.05;  ///< beyond the outermost stations, as a share of the survey's length
  double first_layer_m = 0.0;  ///< 0: a twentieth of the skin depth of the shortest period
  double layer_factor = 1.15;
};

/// Returns the median of log10 ρₐ of the used data, that of 100 ohm m without any.
[[nodiscard]] double median_log10_rho(const Observations& data);

/// Returns the median distance of each station on a map from its nearest neighbour; 0 for a lone one.
[[nodiscard]] double usual_distance_m(const std::vector<Station>& stations);

/// Designs a grid of uniform columns and layers that thicken with depth, which counts from the surface. Edges
/// of columns keep away from stations unless the number of columns is given. Skin
/// depths are those of the median apparent resistivity. The columns of a lone station reach as far aside as
/// its longest period sees down. errors: those of `TensorGrid`.
[[nodiscard]] mesh::TensorGrid design_grid(const Observations& data, const GridOptions& options = {});

/// Designs a grid of uniform cells under a map of stations and layers that thicken with depth. Beside them
/// cells widen outwards by half each, until the longest period no longer sees them. errors: those of
/// `TensorGrid`.
[[nodiscard]] mesh::TensorGrid design_volume(const Observations& data, const GridOptions& options = {});

}  // namespace lodestone::physics::mt
