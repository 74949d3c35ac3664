// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/site_kinks.hpp"

#include "engine/core/log.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace lodestone::physics::mt {
namespace {

constexpr double share_of_segment = 0.02;  // as for the sites that the selftest does not judge
constexpr double least_angle_deg = 2.0;
constexpr std::size_t most_named = 10;  // sites in the message

struct Kink {
  double y_m, angle_rad, reach_m;
};

/// Beyond its ends the surface is level without end.
std::vector<Kink> kinks_of(const physics::mesh::SurfaceLine& surface) {
  const auto &y = surface.y_m(), &z = surface.z_m();
  const auto angle = [&](std::size_t right) {
    return right == 0 || right == y.size() ? 0.0
                                           : std::atan2(z[right] - z[right - 1], y[right] - y[right - 1]);
  };
  const auto width = [&](std::size_t right) {
    return right == 0 || right == y.size() ? std::numeric_limits<double>::infinity()
                                           : y[right] - y[right - 1];
  };
  std::vector<Kink> kinks;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double turn = std::abs(angle(i + 1) - angle(i));
    if (turn * physics::mt::deg_per_rad > least_angle_deg)
      kinks.push_back({y[i], turn, share_of_segment * std::min(width(i), width(i + 1))});
  }
  return kinks;
}

/// The nearest kink within whose reach y lies.
std::optional<Kink> kink_at(const std::vector<Kink>& kinks, double y_m) {
  std::optional<Kink> nearest;
  const auto right = std::ranges::lower_bound(kinks, y_m, {}, &Kink::y_m);
  const auto consider = [&](const Kink& kink) {
    const double distance_m = std::abs(kink.y_m - y_m);
    if (distance_m <= kink.reach_m && (!nearest || distance_m < std::abs(nearest->y_m - y_m))) nearest = kink;
  };
  if (right != kinks.begin()) consider(*(right - 1));
  if (right != kinks.end()) consider(*right);
  return nearest;
}

}  // namespace

std::vector<SiteAtKink> sites_at_kinks(const std::vector<physics::mt::Station>& stations,
                                       const physics::mesh::SurfaceLine& surface) {
  const std::vector<Kink> kinks = kinks_of(surface);
  std::vector<SiteAtKink> found;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    if (const auto kink = kink_at(kinks, stations[i].y_m))
      found.push_back({i, std::abs(kink->y_m - stations[i].y_m), kink->y_m, kink->angle_rad});
  }
  return found;
}

void warn_of_sites_at_kinks(const std::vector<physics::mt::Station>& stations,
                            const physics::mesh::SurfaceLine& surface, const std::string& way_out) {
  const auto found = sites_at_kinks(stations, surface);
  if (found.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(most_named, found.size()); ++i)
    names += fmt::format("{}{} ({:.1f} m from a turn by {:.1f}° at y = {:g} m)", i > 0 ? ", " : "",
                         stations[found[i].site].name, found[i].distance_m,
                         found[i].angle_rad * physics::mt::deg_per_rad, found[i].kink_y_m);
  if (found.size() > most_named) names += fmt::format(" and {} more", found.size() - most_named);
  core::log::warning(
      "{} of {} sites stand at a kink of the surface, where the slope jumps and fields are singular, so that "
      "their responses are those of "
      "the corner: {}; {}",
      found.size(), stations.size(), names, way_out);
}

}  // namespace lodestone::physics::mt
