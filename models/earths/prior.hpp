// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"

#include <cstdint>
#include <vector>

namespace lodestone::models::earths {

/// A mixture of families on one grid. The draw of a number follows from seed and number alone, in whatever
/// order or thread it is made.
class Prior {
 public:
  struct Part {
    double weight = 1.0;  ///< share of the draws, after division by the sum of all
    GeneratorPtr generator;
  };
  /// Checks the parts. errors: InvalidArgument (no part, weights, grid, a family that does not fit the grid).
  Prior(TensorGrid grid, std::vector<Part> parts, std::uint64_t seed);
  [[nodiscard]] const TensorGrid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Returns the number of the part that makes a draw.
  [[nodiscard]] std::size_t part_of(std::int64_t number) const;
  /// Returns draw `number`. shapes: → (n_z, n_y).
  [[nodiscard]] Eigen::MatrixXd draw(std::int64_t number) const;
  /// Draws first … first + n − 1, cells counted row by row from the top, on the threads of core::parallel.
  /// shapes: → (n_cells, n).
  [[nodiscard]] Eigen::MatrixXd draws(std::int64_t first, std::int64_t n) const;

 private:
  TensorGrid grid_;
  std::vector<Part> parts_;
  std::uint64_t seed_;
};

}  // namespace lodestone::models::earths
