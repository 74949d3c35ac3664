// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

namespace lodestone::models::earths {

using physics::mesh::TensorGrid;

/// Makes the grid of one subdomain: interfaces below the surface, of which the first may lie deeper, and the
/// edges of its columns along the profile; a single column has {0, width}. A patch of a volume has edges
/// along x as well. errors: as those of `check`.
[[nodiscard]] TensorGrid patch_grid(std::vector<double> depth_m, std::vector<double> y_m,
                                    std::vector<double> x_m = {});

/// Checks the grid of a subdomain. errors: InvalidArgument unless it is draped and has columns, where depths
/// begin above the surface, or columns not at 0 along y and x.
void check(const TensorGrid& grid);

/// Returns the same columns with further rows on top, up to the surface, for what acts on cells. Their
/// thickness continues the ratio of the two uppermost rows. So the lower part of a geometric grid gets back
/// the rows it was cut from. Where such rows would never arrive they are as thick as the uppermost. A grid
/// that begins at the surface is returned as it is. `most_rows` bounds their number.
[[nodiscard]] TensorGrid continued_to_surface(const TensorGrid& grid, int most_rows = 256);

/// A family of earths. Immutable.
class Generator {
 public:
  virtual ~Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  [[nodiscard]] virtual std::string kind()
      const = 0;  ///< word of the configuration; modifiers keep that of what they modify
  /// Draws log10 of ohm m. shapes: → (n_z, n_columns), those along x first. `random` is of this draw alone.
  [[nodiscard]] virtual Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const = 0;
  /// Checks the grid before anything is drawn. By default patches of a volume are refused. errors:
  /// InvalidArgument when this family cannot be drawn on it.
  virtual void check_grid(const TensorGrid& grid) const { refuse_volume(grid); }

 protected:
  Generator() = default;
  /// Checks that a grid has no cells along x. errors: InvalidArgument.
  void refuse_volume(const TensorGrid& grid) const;
};
using GeneratorPtr = std::shared_ptr<const Generator>;

}  // namespace lodestone::models::earths
