// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/objective/triangular_product.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <vector>

namespace lodestone::inversion::prior {

/// A model covariance by recursive autoregression, as ModEM has it: m − m_ref = S w with white w. S smooths
/// to and fro along x, y and z, m_i ← m_i + α m_{i∓1}. Lengths are counted in cells: they grow with the
/// cells. source: Purser et al. 2003, Mon. Wea. Rev. 131, 1524; Egbert & Kelbert 2012.
struct Autoregression {
  /// Two areas with a smoothing of their own across their border.
  struct Border {
    int area, other_area;
    double smoothing;
  };
  std::vector<double> x_smoothing{}, y_smoothing{};  ///< α of each layer, from the top, 0 to below 1
  double z_smoothing = 0.0;                          ///< α between layers
  int n_times = 1;                                   ///< repetitions of S; 0: cells are independent
  std::vector<int> area_of_cell{};                   ///< (n_cells); empty: all cells are one area
  std::vector<Border> borders{};                     ///< pairs without an entry smooth as elsewhere
};

/// Returns R = S⁻¹ of the free cells and of further unknowns behind them, each with one row of its own that
/// holds its weight. Nothing is smoothed into cells that are held. S keeps a constant, except at the ends of
/// the grid and beside held cells, where it makes it smaller. shapes: further_weights (k); R (n_free + k,
/// n_free + k). errors: InvalidArgument for smoothing outside 0 to below 1, or negative repetitions;
/// ShapeError unless there are numbers for each layer, and an area for each cell or for none.
[[nodiscard]] objective::TriangularProduct autoregression_operator(
    const physics::mesh::TensorGrid& grid, const Autoregression& options,
    const std::vector<Eigen::Index>& free_cells, const core::ConstVectorRef& further_weights);

}  // namespace lodestone::inversion::prior
