// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/site_depths.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double on_surface_m = 1.0;    // depths of files and of the polyline agree no better
constexpr std::size_t most_named = 10;  // sites in one message

}  // namespace

void check_site_depths(const std::vector<Station>& stations, const physics::mesh::SurfaceLine& surface,
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
        "mt_invert",
        "expected sites on the surface within {:g} m, got {}; correct the surface or the depths, or {}",
        on_surface_m, names, way_out);
  }
  core::log::info("{} of {} sites moved onto the surface, by up to {:.1f} m: {}", n_off, stations.size(),
                  farthest_m, names);
}

physics::mesh::SurfaceLine surface_through(const std::vector<Station>& stations) {
  std::vector<const Station*> order;
  for (const Station& station : stations) order.push_back(&station);
  std::ranges::sort(order, {}, &Station::y_m);
  std::vector<double> y, z;
  for (const Station* station : order) {
    if (!std::isfinite(station->z_m)) {
      throw core::InvalidArgument("mt::surface_through",
                                  "expected the depth of station {}, got none; add it to the data, or give "
                                  "the surface in another way",
                                  station->name);
    }
    y.push_back(station->y_m);
    z.push_back(station->z_m);
  }
  return {std::move(y), std::move(z)};
}

}  // namespace lodestone::physics::mt
