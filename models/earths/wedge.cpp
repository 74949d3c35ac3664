// SPDX-License-Identifier: Apache-2.0
#include "models/earths/wedge.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::models::earths {

Wedge::Wedge(const WedgeOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.length_m, "length_m");
  check_positive(options_.thickness_m, "thickness_m");
  check(options_.thin_share, "thin_share", 0.0);
  if (options_.thin_share.upper > 1.0)
    throw core::InvalidArgument("models::Wedge#share_above_one", "expected thin_share within 0 … 1, got {:g}",
                                options_.thin_share.upper);
  check(options_.dip_deg, "dip_deg", -80.0);
  if (options_.dip_deg.upper > 80.0)
    throw core::InvalidArgument("models::Wedge#dip_out_of_range", "expected dip_deg within ±80, got {:g}",
                                options_.dip_deg.upper);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Wedge::bodies(Draws& draws, double section_width_m) const {
  const double middle = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
  const double half_length = 0.5 * draws.log_uniform(options_.length_m);
  const double fall = half_length * std::tan(draws.uniform(options_.dip_deg) * std::numbers::pi / 180.0);
  double left = draws.log_uniform(options_.thickness_m), right = left * draws.uniform(options_.thin_share);
  if (draws.chance(0.5)) std::swap(left, right);
  return {{{{0.0, middle - half_length, top - fall},
            {0.0, middle + half_length, top + fall},
            {0.0, middle + half_length, top + fall + right},
            {0.0, middle - half_length, top - fall + left}},
           draws.uniform(options_.log10_resistivity)}};
}

/// One end of the top rises.
double Wedge::least_depth_m() const {
  const double most_deg = std::max(std::abs(options_.dip_deg.lower), std::abs(options_.dip_deg.upper));
  return options_.top_m.lower - 0.5 * options_.length_m.upper * std::tan(most_deg * std::numbers::pi / 180.0);
}

}  // namespace lodestone::models::earths
