// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/sites.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace lodestone::physics::mt {
namespace {

constexpr double on_surface_m = 1.0;       // depths of files and of the polyline agree no better
constexpr std::size_t most_named = 10;     // sites in one message
constexpr double share_of_segment = 0.02;  // as for the sites that the selftest does not judge
constexpr double least_angle_deg = 2.0;

struct Kink {
  double y_m, angle_rad, reach_m;
};

/// Returns the kinks of a surface, which is level beyond its ends.
std::vector<Kink> kinks_of(const mesh::SurfaceLine& surface) {
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
    if (turn * deg_per_rad > least_angle_deg)
      kinks.push_back({y[i], turn, share_of_segment * std::min(width(i), width(i + 1))});
  }
  return kinks;
}

/// Returns the nearest kink within whose reach y lies.
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

void check_site_depths(const std::vector<Station>& stations, const mesh::SurfaceLine& surface,
                       OffSurface off_surface, const std::string& way_out) {
  std::string names;
  std::size_t n_off = 0;
  double farthest_m = 0.0;
  for (const Station& station : stations) {
    const double above_m = surface.z_at(station.y_m) - station.z_m;
    if (std::isnan(above_m) || std::abs(above_m) <= on_surface_m) continue;
    farthest_m = std::max(farthest_m, std::abs(above_m));
    if (++n_off <= most_named)
      names += fmt::format("{}{} ({:.1f} m {})", n_off > 1 ? ", " : "", station.name, std::abs(above_m),
                           above_m > 0 ? "above" : "below");
  }
  if (n_off == 0) return;
  if (n_off > most_named) names += fmt::format(" and {} more", n_off - most_named);
  if (off_surface == OffSurface::refuse) {
    throw core::InvalidArgument(
        "mt::sites#sites_off_surface",
        "expected sites on the surface within {:g} m, got {}; correct the surface or the depths, or {}",
        on_surface_m, names, way_out);
  }
  core::log::info("{} of {} sites moved onto the surface, by up to {:.1f} m: {}", n_off, stations.size(),
                  farthest_m, names);
}

mesh::SurfaceLine surface_through(const std::vector<Station>& stations) {
  std::vector<const Station*> order;
  for (const Station& station : stations) order.push_back(&station);
  std::ranges::sort(order, {}, &Station::y_m);
  std::vector<double> y, z;
  for (const Station* station : order) {
    if (!std::isfinite(station->z_m)) {
      throw core::InvalidArgument("mt::surface_through#no_depth",
                                  "station {} has no depth; add it to the data, or give "
                                  "the surface in another way",
                                  station->name);
    }
    y.push_back(station->y_m);
    z.push_back(station->z_m);
  }
  return {std::move(y), std::move(z)};
}

std::vector<SiteAtKink> sites_at_kinks(const std::vector<Station>& stations,
                                       const mesh::SurfaceLine& surface) {
  const std::vector<Kink> kinks = kinks_of(surface);
  std::vector<SiteAtKink> found;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    if (const auto kink = kink_at(kinks, stations[i].y_m))
      found.push_back({i, std::abs(kink->y_m - stations[i].y_m), kink->y_m, kink->angle_rad});
  }
  return found;
}

void warn_of_sites_at_kinks(const std::vector<Station>& stations, const mesh::SurfaceLine& surface,
                            const std::string& way_out) {
  const auto found = sites_at_kinks(stations, surface);
  if (found.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(most_named, found.size()); ++i)
    names += fmt::format("{}{} ({:.1f} m from a turn by {:.1f}° at y = {:g} m)", i > 0 ? ", " : "",
                         stations[found[i].site].name, found[i].distance_m, found[i].angle_rad * deg_per_rad,
                         found[i].kink_y_m);
  if (found.size() > most_named) names += fmt::format(" and {} more", found.size() - most_named);
  core::log::warning(
      core::log::Id("mt::sites#sites_at_kinks"),
      "{} of {} sites stand at a kink of the surface, where the slope jumps and fields are singular, so that "
      "their responses are those of "
      "the corner: {}; {}",
      found.size(), stations.size(), names, way_out);
}

}  // namespace lodestone::physics::mt
