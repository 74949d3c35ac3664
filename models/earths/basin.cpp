// SPDX-License-Identifier: Apache-2.0
#include "models/earths/basin.hpp"

#include <cmath>

namespace lodestone::models::earths {
namespace {

constexpr int n_chords = 64;  // of the floor

}  // namespace

Basin::Basin(const BasinOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.thickness_m, "thickness_m");
  check(options_.shape, "shape", 1.0);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Basin::bodies(Draws& draws, double section_width_m) const {
  const double middle = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
  const double half_width = 0.5 * draws.log_uniform(options_.width_m),
               thickness = draws.log_uniform(options_.thickness_m);
  const double shape = draws.uniform(options_.shape);
  Body fill{{}, draws.uniform(options_.log10_resistivity)};
  for (int k = 0; k <= n_chords; ++k) {
    const double s = 2.0 * k / n_chords - 1.0;
    fill.outline.push_back(
        {0.0, middle + s * half_width, top + thickness * (1.0 - std::pow(std::abs(s), shape))});
  }
  return {fill};
}

}  // namespace lodestone::models::earths
