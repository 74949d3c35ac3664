// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/sites.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

namespace lodestone::physics::mt {
namespace {

constexpr double on_surface_m = 1.0;       // depths of files and of the polyline agree no better
constexpr std::size_t most_named = 10;     // sites in one message
constexpr double share_of_segment = 0.02;  // as for the sites that the selftest does not judge
constexpr double least_angle_deg = 2.0;
constexpr double share_off_line = 0.2, on_line_m = 1.0;
constexpr double share_of_column = 0.5;
constexpr double share_of_facet = 0.25;  // of the distance to the next station, on both sides

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

/// Returns the length of a line, between its outermost sites.
double length_m(const Profile& profile) {
  const auto [first, last] = std::ranges::minmax(profile.y_m);
  return last - first;
}

/// Joins the first of these texts, and counts the others.
template <class Item, class Text>
std::string list_of(const std::vector<Item>& items, Text text) {
  std::string list;
  for (std::size_t i = 0; i < std::min(most_named, items.size()); ++i)
    list += (i > 0 ? ", " : "") + text(items[i]);
  if (items.size() > most_named) list += fmt::format(" and {} more", items.size() - most_named);
  return list;
}

/// Returns a slope at each point: the harmonic mean of those on both sides (Fritsch and Butland 1984), and 0
/// at extremes. It is at most twice the smaller one, so that corners of facets rise and fall as the points
/// do. The ends are level, as is the surface beyond them.
std::vector<double> slopes_at(const mesh::SurfaceLine& line) {
  const auto &y = line.y_m(), &z = line.z_m();
  std::vector<double> slopes(y.size(), 0.0);
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    const double left_m = y[i] - y[i - 1], right_m = y[i + 1] - y[i];
    const double left = (z[i] - z[i - 1]) / left_m, right = (z[i + 1] - z[i]) / right_m;
    if (left * right <= 0.0) continue;
    const double weight = (left_m + 2.0 * right_m) / (3.0 * (left_m + right_m));
    const double mean = left * right / (weight * right + (1.0 - weight) * left);
    slopes[i] =
        std::copysign(std::min(std::abs(mean), 2.0 * std::min(std::abs(left), std::abs(right))), mean);
  }
  return slopes;
}

/// Replaces each point of a line by a facet through it, whose ends are the corners of what is returned.
mesh::SurfaceLine with_facets(const mesh::SurfaceLine& points) {
  if (points.y_m().size() < 2) return points;
  const std::vector<double> slopes = slopes_at(points);
  std::vector<double> y, z;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const auto add = [&](double offset_m) {
      y.push_back(points.y_m()[i] + offset_m);
      z.push_back(points.z_m()[i] + slopes[i] * offset_m);
    };
    if (i > 0) add(-share_of_facet * (points.y_m()[i] - points.y_m()[i - 1]));
    if (i + 1 < slopes.size()) add(share_of_facet * (points.y_m()[i + 1] - points.y_m()[i]));
  }
  return {std::move(y), std::move(z)};
}

}  // namespace

void check_site_depths(const std::vector<Station>& stations, const mesh::Surface& surface,
                       OffSurface off_surface, const std::string& way_out) {
  std::string names;
  std::size_t n_off = 0;
  double farthest_m = 0.0;
  for (const Station& station : stations) {
    const double above_m = surface.z_at(station.x_m, station.y_m) - station.z_m;
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
  return with_facets({std::move(y), std::move(z)});
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

std::vector<SiteOffLine> sites_off_line(const Profile& profile) {
  if (profile.y_m.empty() || profile.offset_m.size() != profile.y_m.size()) return {};
  const double most_m = std::max(share_off_line * length_m(profile), on_line_m);
  std::vector<SiteOffLine> found;
  for (std::size_t i = 0; i < profile.offset_m.size(); ++i) {
    if (std::abs(profile.offset_m[i]) > most_m) found.push_back({i, profile.offset_m[i]});
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const SiteOffLine& each) { return std::abs(each.offset_m); });
  return found;
}

void warn_of_sites_off_line(const std::vector<Station>& stations, const Profile& profile) {
  const auto found = sites_off_line(profile);
  if (found.empty()) return;
  core::log::warning(
      core::log::Id("mt::sites#sites_off_line"),
      "{} of {} stations lie farther from the line than a fifth of its length of {:.1f} km: {}. A section "
      "projects them onto the line as if the earth did not change across it; leave out the stations of other "
      "lines, or set the azimuth of the profile",
      found.size(), stations.size(), 1e-3 * length_m(profile), list_of(found, [&](const SiteOffLine& each) {
        return fmt::format("{} ({:.1f} km off)", stations.at(each.site).name, 1e-3 * std::abs(each.offset_m));
      }));
}

std::vector<CloseSites> close_sites(const std::vector<Station>& stations, const mesh::TensorGrid& grid) {
  if (!grid.has(mesh::Axis::y)) return {};
  const bool on_map = grid.has(mesh::Axis::x);
  std::vector<std::size_t> order(stations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stations[i].y_m; });
  const auto column_m = [&](const Station& site) {
    const double along_y = grid.width_m(mesh::Axis::y, grid.nearest(mesh::Axis::y, site.y_m));
    return on_map ? std::min(along_y, grid.width_m(mesh::Axis::x, grid.nearest(mesh::Axis::x, site.x_m)))
                  : along_y;
  };
  std::vector<CloseSites> found;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Station& second = stations[order[i]];
    const double second_m = column_m(second);
    const std::size_t first_to_see = on_map ? 0 : i - 1;
    for (std::size_t j = i; j-- > first_to_see;) {
      const Station& first = stations[order[j]];
      const double along_y_m = second.y_m - first.y_m;
      if (along_y_m >= share_of_column * second_m) break;
      const double distance_m = on_map ? std::hypot(along_y_m, second.x_m - first.x_m) : along_y_m;
      const double width_m = std::min(column_m(first), second_m);
      if (distance_m < share_of_column * width_m) found.push_back({order[j], order[i], distance_m, width_m});
    }
  }
  return found;
}

void warn_of_sites_outside(const std::vector<Station>& stations, const mesh::Box& within,
                           const std::string& what, const std::string& way_out) {
  std::vector<Station> outside;
  std::ranges::copy_if(stations, std::back_inserter(outside), [&](const Station& station) {
    return !within.x_m.contains(station.x_m) || !within.y_m.contains(station.y_m);
  });
  if (outside.empty()) return;
  const bool on_map = std::isfinite(within.x_m.from);
  const auto place_of = [&](const Station& station) {
    const std::string x = on_map ? fmt::format("x {:.6g} m, ", station.x_m) : "";
    return fmt::format("{} ({}y {:.6g} m)", station.name, x, station.y_m);
  };
  const std::string x = on_map ? fmt::format("x {:.6g} to {:.6g} m, ", within.x_m.from, within.x_m.to) : "";
  core::log::warning(core::log::Id("mt::sites#outside"),
                     "{} of {} stations stand outside {} ({}y {:.6g} to {:.6g} m): {}; {}", outside.size(),
                     stations.size(), what, x, within.y_m.from, within.y_m.to, list_of(outside, place_of),
                     way_out);
}

void warn_of_sites_outside(const std::vector<Station>& stations, const mesh::TensorGrid& grid,
                           const std::string& way_out) {
  warn_of_sites_outside(stations, grid.extent(), "the cells of the model, which continues as at its edge",
                        way_out);
}

void warn_of_close_sites(const std::vector<Station>& stations, const mesh::TensorGrid& grid,
                         const std::string& way_out) {
  const auto found = close_sites(stations, grid);
  if (found.empty()) return;
  core::log::warning(core::log::Id("mt::sites#close_sites"),
                     "of {} stations, pairs stand closer together than half a column of the grid, which "
                     "cannot explain a difference of their data: {}; {}",
                     stations.size(),
                     list_of(found,
                             [&](const CloseSites& each) {
                               return fmt::format("{} and {} ({:.4g} m apart, columns of {:.4g} m)",
                                                  stations[each.first].name, stations[each.second].name,
                                                  each.distance_m, each.column_m);
                             }),
                     way_out);
}

}  // namespace lodestone::physics::mt
