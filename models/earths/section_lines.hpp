// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"
#include "physics/mesh/shapes.hpp"

#include <Eigen/Core>

#include <vector>

namespace lodestone::models::earths {

/// The place of a grid in its section, and the vertical lines over which its columns are averaged.
struct SectionLines {
  double width_m = 0.0;     ///< width of the section
  std::vector<double> y_m;  ///< in the section; as many for each column, from left to right
  Eigen::Index n_columns = 1;
  [[nodiscard]] Eigen::Index n_per_column() const { return std::ssize(y_m) / n_columns; }
};

/// Cuts the grid at a random place from a section of that width. A patch gets 8 lines per column, a single
/// column one, through its middle. A width of 0 m stands for that of the patch, and for the depth of the grid
/// of a single column. A section narrower than the grid is widened to it.
[[nodiscard]] SectionLines section_lines(const TensorGrid& grid, double section_width_m, Draws& draws);

/// Layers along a vertical line: values between the interfaces, one value more than interfaces; interfaces do
/// not decrease.
struct Layers {
  std::vector<double> interface_m;
  std::vector<double> value;
};
/// Returns the averages of the layers in the cells of a column. shapes: edges (n_z + 1) → (n_z).
[[nodiscard]] Eigen::VectorXd cell_averages(const Layers& layers, const std::vector<double>& depth_m);

/// Returns the share of each cell that lies within a closed outline, exact along every line. shapes: → (n_z,
/// n_y).
[[nodiscard]] Eigen::MatrixXd cell_shares(const std::vector<physics::mesh::Point>& outline,
                                          const TensorGrid& grid, const SectionLines& lines);

}  // namespace lodestone::models::earths
