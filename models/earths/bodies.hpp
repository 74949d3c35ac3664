// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"
#include "physics/mesh/shapes.hpp"

#include <vector>

namespace lodestone::models::earths {

/// An outline of one resistivity. The part above the surface or beside the section is of no effect.
struct Body {
  std::vector<physics::mesh::Point> outline;
  double log10_resistivity = 0.0;
};

/// The options that all families of bodies share.
struct BodiesOptions {
  GeneratorPtr background;  ///< earth around the bodies
  double section_width_m =
      0.0;  ///< width of the section in which bodies are placed and from which the grid is cut at a random
            ///< place; 0: as wide as the patch, for a single column as wide as the grid is deep
};

/// Bodies in a background. A family draws the bodies; later ones cover earlier ones. A cell that a body
/// fills in part has the mean of log10 over its area.
class Bodies : public Generator {
 public:
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const final;
  /// Checks that bodies reach up into the grid. errors: InvalidArgument otherwise, and those of the
  /// background.
  void check_grid(const TensorGrid& grid) const final;

 protected:
  /// Checks the options. errors: InvalidArgument (no background, a width that is negative or not finite).
  explicit Bodies(BodiesOptions options);
  /// Returns the bodies of one draw, in a section from y = 0 to its width.
  [[nodiscard]] virtual std::vector<Body> bodies(Draws& draws, double section_width_m) const = 0;
  /// Returns the depth above which no point of any body lies; negative: above the surface.
  [[nodiscard]] virtual double least_depth_m() const = 0;

 private:
  BodiesOptions options_;
};

}  // namespace lodestone::models::earths
