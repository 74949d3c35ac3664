// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/bodies.hpp"

namespace lodestone::models::earths {

/// Steep sheets. Their tops lie anywhere along the section. Lengths have no default.
struct DikesOptions {
  BodiesOptions bodies;
  IntegerRange number{1, 3};
  Range top_m{};
  Range width_m{};             ///< along the profile, log-uniform
  Range height_m{};            ///< from top to bottom, log-uniform
  Range dip_deg{60.0, 120.0};  ///< from the horizontal; below 90 down to the right, above down to the left
  Range log10_resistivity{0.0, 1.5};
};

class Dikes final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Dikes(const DikesOptions& options);
  [[nodiscard]] std::string kind() const override { return "dikes"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override { return options_.top_m.lower; }
  DikesOptions options_;
};

}  // namespace lodestone::models::earths
