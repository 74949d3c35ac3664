// SPDX-License-Identifier: Apache-2.0
#include "models/earths/dikes.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <numbers>

namespace lodestone::models::earths {

Dikes::Dikes(const DikesOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.number, "number", 1);
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.height_m, "height_m");
  check(options_.dip_deg, "dip_deg", 10.0);
  if (options_.dip_deg.upper > 170.0)
    throw core::InvalidArgument("models::Dikes#dip_out_of_range",
                                "expected dip_deg within 10 … 170, got {:g}", options_.dip_deg.upper);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Dikes::bodies(Draws& draws, double section_width_m) const {
  std::vector<Body> dikes(static_cast<std::size_t>(draws.integer(options_.number)));
  for (Body& dike : dikes) {
    const double y = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
    const double half_width = 0.5 * draws.log_uniform(options_.width_m),
                 bottom = top + draws.log_uniform(options_.height_m);
    const double shift =
        (bottom - top) * std::tan((90.0 - draws.uniform(options_.dip_deg)) * std::numbers::pi / 180.0);
    dike.outline = {{0.0, y - half_width, top},
                    {0.0, y + half_width, top},
                    {0.0, y + shift + half_width, bottom},
                    {0.0, y + shift - half_width, bottom}};
    dike.log10_resistivity = draws.uniform(options_.log10_resistivity);
  }
  return dikes;
}

}  // namespace lodestone::models::earths
