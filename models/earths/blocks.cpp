// SPDX-License-Identifier: Apache-2.0
#include "models/earths/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::models::earths {

Blocks::Blocks(const BlocksOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.number, "number", 1);
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.height_m, "height_m");
  check(options_.tilt_deg, "tilt_deg");
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Blocks::bodies(Draws& draws, double section_width_m) const {
  std::vector<Body> blocks(static_cast<std::size_t>(draws.integer(options_.number)));
  for (Body& block : blocks) {
    const double half_width = 0.5 * draws.log_uniform(options_.width_m),
                 half_height = 0.5 * draws.log_uniform(options_.height_m);
    const double y = draws.uniform({0.0, section_width_m}), z = draws.uniform(options_.top_m) + half_height;
    const double tilt = draws.uniform(options_.tilt_deg) * std::numbers::pi / 180.0, c = std::cos(tilt),
                 s = std::sin(tilt);
    for (const auto& [side, end] : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
      const double along = side * half_width, down = end * half_height;
      block.outline.push_back({0.0, y + c * along - s * down, z + s * along + c * down});
    }
    block.log10_resistivity = draws.uniform(options_.log10_resistivity);
  }
  return blocks;
}

/// Tilted, one end of the top rises.
double Blocks::least_depth_m() const {
  const double most_deg =
      std::min(90.0, std::max(std::abs(options_.tilt_deg.lower), std::abs(options_.tilt_deg.upper)));
  return options_.top_m.lower - 0.5 * options_.width_m.upper * std::sin(most_deg * std::numbers::pi / 180.0);
}

}  // namespace lodestone::models::earths
