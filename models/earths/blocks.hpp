// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/bodies.hpp"

namespace lodestone::models::earths {

/// Rectangles, level or tilted. Their middles lie anywhere along the section. Lengths have no default.
struct BlocksOptions {
  BodiesOptions bodies;
  IntegerRange number{1, 3};
  Range top_m{};             ///< top of the level rectangle
  Range width_m{};           ///< log-uniform
  Range height_m{};          ///< log-uniform
  Range tilt_deg{0.0, 0.0};  ///< about the middle, down to the right
  Range log10_resistivity{0.0, 4.0};
};

class Blocks final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Blocks(const BlocksOptions& options);
  [[nodiscard]] std::string kind() const override { return "blocks"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override;
  BlocksOptions options_;
};

}  // namespace lodestone::models::earths
