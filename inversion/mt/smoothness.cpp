// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/smoothness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion::mt {

using physics::mt::Station;

double sampled_wavelength_m(const std::vector<Station>& stations) {
  if (stations.size() < 2) return std::numeric_limits<double>::infinity();
  const auto extent = [&](double Station::*axis) {
    const auto [first, last] = std::ranges::minmax(stations, {}, axis);
    return last.*axis - first.*axis;
  };
  const double a = extent(&Station::x_m), b = extent(&Station::y_m);
  const auto n_others = static_cast<double>(stations.size() - 1);
  // The distance d is the positive root of (a/d + 1)(b/d + 1) = n; the wavelength is twice that.
  return (a + b + std::sqrt((a + b) * (a + b) + 4.0 * a * b * n_others)) / n_others;
}

prior::RoughnessOptions smooth_in_log_depth(prior::RoughnessOptions options, double depth_m,
                                            const std::vector<Station>& stations) {
  const double whole_m = depth_m + options.depth_weight_z0_m;
  const double length = std::min(sampled_wavelength_m(stations) / whole_m, 1.0);
  options.depth_weight_exponent = 1.0;
  options.horizontal_depth_exponent = -1.0;
  options.horizontal_weight = options.vertical_weight * length * length;
  return options;
}

}  // namespace lodestone::inversion::mt
