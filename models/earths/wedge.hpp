// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/bodies.hpp"

namespace lodestone::models::earths {

/// A layer that thins out from one end to the other, either way round. Lengths have no default.
struct WedgeOptions {
  BodiesOptions bodies;
  Range top_m{};               ///< at the middle, which lies anywhere along the section
  Range length_m{};            ///< across the profile, log-uniform
  Range thickness_m{};         ///< thickness of the thick end, log-uniform
  Range thin_share{0.0, 0.3};  ///< thickness of the thin end, as a share of the other's
  Range dip_deg{-5.0, 5.0};    ///< dip of the top, down to the right
  Range log10_resistivity{0.0, 1.5};
};

class Wedge final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Wedge(const WedgeOptions& options);
  [[nodiscard]] std::string kind() const override { return "wedge"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override;
  WedgeOptions options_;
};

}  // namespace lodestone::models::earths
