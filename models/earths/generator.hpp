// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "models/earths/patch_grid.hpp"

#include <Eigen/Core>

#include <memory>
#include <string>

namespace lodestone::models::earths {

/// A family of earths. Immutable.
class Generator {
 public:
  virtual ~Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  [[nodiscard]] virtual std::string kind()
      const = 0;  ///< word of the configuration; modifiers keep that of what they modify
  /// Draws log10 of ohm m. shapes: → (n_z, n_y). `random` is of this draw alone.
  [[nodiscard]] virtual Eigen::MatrixXd draw(const core::Philox& random, const PatchGrid& grid) const = 0;
  /// errors: InvalidArgument where this family cannot be drawn on the grid, before anything is drawn.
  virtual void check_grid(const PatchGrid&) const {}

 protected:
  Generator() = default;
};
using GeneratorPtr = std::shared_ptr<const Generator>;

}  // namespace lodestone::models::earths
