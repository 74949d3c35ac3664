// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/bodies.hpp"

namespace lodestone::models::earths {

/// A fill with a level top and a bottom z = top + thickness·(1 − |s|^shape), s from −1 to 1 across. Lengths
/// have no default.
struct BasinOptions {
  BodiesOptions bodies;
  Range top_m{0.0, 0.0};
  Range width_m{};        ///< log-uniform; the middle lies anywhere along the section
  Range thickness_m{};    ///< at the middle, log-uniform
  Range shape{1.5, 6.0};  ///< 1: a V, 2: a parabola, large: steep sides and a level floor
  Range log10_resistivity{0.0, 1.5};
};

class Basin final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Basin(const BasinOptions& options);
  [[nodiscard]] std::string kind() const override { return "basin"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override { return options_.top_m.lower; }
  BasinOptions options_;
};

}  // namespace lodestone::models::earths
