// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/slice.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

/// A straight line in plan along which an earth is cut: s is the distance from `start`, or y of a section.
struct Track {
  Point start{}, direction{};   // a place is start + s · direction
  std::vector<double> columns;  // s at the edges of the columns, increasing
  std::vector<double> bends;    // s at these and where the surface bends, increasing
  [[nodiscard]] Point place(double s) const {
    return {start.x_m + s * direction.x_m, start.y_m + s * direction.y_m, 0.0};
  }
};

double surface_at(const Earth& earth, const Track& track, double s) {
  const Point place = track.place(s);
  return earth.surface.z_at(place.x_m, place.y_m);
}

Track track_of_section(const Earth& earth) {
  Track track{.start = {}, .direction = {0.0, 1.0, 0.0}, .columns = earth.grid.edges().y_m, .bends = {}};
  track.bends = track.columns;
  const std::vector<double>& y = earth.surface.y_m();
  track.bends.insert(track.bends.end(), y.begin(), y.end());
  std::ranges::sort(track.bends);
  return track;
}

/// Adds where a line from `start` of this length crosses lines of constant x or y.
void add_crossings(const Track& track, Axis axis, const std::vector<double>& lines, double length_m,
                   std::vector<double>& to) {
  if (track.direction[axis] == 0.0) return;
  for (const double line : lines) {
    const double s = (line - track.start[axis]) / track.direction[axis];
    if (s > 0.0 && s < length_m) to.push_back(s);
  }
}

Track track_of(const Earth& earth, const VerticalCut& cut) {
  const double length_m = std::hypot(cut.to.x_m - cut.from.x_m, cut.to.y_m - cut.from.y_m);
  if (!(std::isfinite(length_m) && length_m > 0.0))
    throw core::InvalidArgument("mesh::slice#no_length",
                                "expected a cut between two places, got a length of {} m", length_m);
  Track track{
      .start = cut.from,
      .direction = {(cut.to.x_m - cut.from.x_m) / length_m, (cut.to.y_m - cut.from.y_m) / length_m, 0.0},
      .columns = {0.0, length_m},
      .bends = {}};
  for (const Axis axis : {Axis::x, Axis::y})
    add_crossings(track, axis, earth.grid.edges_m(axis), length_m, track.columns);
  track.bends = track.columns;
  add_crossings(track, Axis::x, earth.surface.x_m(), length_m, track.bends);
  add_crossings(track, Axis::y, earth.surface.y_m(), length_m, track.bends);
  std::ranges::sort(track.columns);
  std::ranges::sort(track.bends);
  track.columns.erase(std::unique(track.columns.begin(), track.columns.end()), track.columns.end());
  return track;
}

void add_pieces(const Earth& earth, const Track& track, Slice& to) {
  const std::vector<double>& s = track.columns;
  const std::vector<double>& z = earth.grid.edges().z_m;
  std::vector<double> surface_m;
  for (const double at : s) surface_m.push_back(surface_at(earth, track, at));
  for (std::size_t iz = 0; iz + 1 < z.size(); ++iz) {
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      Point middle = track.place(0.5 * (s[i] + s[i + 1]));
      middle.z_m = earth.grid.centre_m(Axis::z, static_cast<int>(iz));
      const Eigen::Index cell = earth.grid.at(middle);
      const auto depth = [&](std::size_t edge, std::size_t k) {
        return true_z_m(earth.grid, z[edge], surface_m[k]);
      };
      const double top_left = depth(iz, i), top_right = depth(iz, i + 1), bottom_left = depth(iz + 1, i),
                   bottom_right = depth(iz + 1, i + 1);
      if (cell < 0 || (bottom_left <= top_left && bottom_right <= top_right)) continue;
      to.pieces.push_back(
          {cell, {{s[i], top_left}, {s[i + 1], top_right}, {s[i + 1], bottom_right}, {s[i], bottom_left}}});
    }
  }
}

/// Returns the outline between the level of the sea and its floor, of no height on land.
std::vector<Flat> water_below(const std::vector<Flat>& surface, double level_m) {
  std::vector<Flat> outline;
  for (std::size_t i = 0; i < surface.size(); ++i) {
    const double floor = surface[i].v_m - level_m;
    outline.push_back({surface[i].u_m, level_m + std::max(floor, 0.0)});
    if (i + 1 == surface.size()) break;
    const double next = surface[i + 1].v_m - level_m;
    if (floor * next < 0.0)
      outline.push_back(
          {surface[i].u_m + (surface[i + 1].u_m - surface[i].u_m) * floor / (floor - next), level_m});
  }
  outline.push_back({surface.back().u_m, level_m});
  outline.push_back({surface.front().u_m, level_m});
  return outline;
}

void add_sites(const Earth& earth, const Track& track, const std::vector<Site>& sites, double within_m,
               Slice& to) {
  const auto &start = track.start, &direction = track.direction;
  for (const Site& site : sites) {
    const double x_m = site.at.x_m - start.x_m, y_m = site.at.y_m - start.y_m;
    const double s = x_m * direction.x_m + y_m * direction.y_m;
    const double distance_m = std::abs(x_m * direction.y_m - y_m * direction.x_m);
    if (s < track.columns.front() || s > track.columns.back() || distance_m > within_m) continue;
    to.sites.push_back({site.name, {s, surface_at(earth, track, s)}, distance_m});
  }
}

Slice slice_along(const Earth& earth, const Track& track, const std::vector<Site>& sites, double within_m) {
  Slice result;
  add_pieces(earth, track, result);
  for (const double s : track.bends) result.surface.push_back({s, surface_at(earth, track, s)});
  if (earth.sea) result.water.push_back(water_below(result.surface, earth.sea->level_m));
  add_sites(earth, track, sites, within_m, result);
  return result;
}

Slice slice_of_layers(const Earth& earth) {
  Slice result;
  const double surface_m = earth.surface.z_at(0.0, 0.0);
  const std::vector<double>& z = earth.grid.edges().z_m;
  for (std::size_t iz = 0; iz + 1 < z.size(); ++iz) {
    const double top = true_z_m(earth.grid, z[iz], surface_m);
    const double bottom = true_z_m(earth.grid, z[iz + 1], surface_m);
    if (bottom > top) result.pieces.push_back({static_cast<Eigen::Index>(iz), {{0.0, top}, {0.0, bottom}}});
  }
  result.surface.push_back({0.0, surface_m});
  if (earth.sea && surface_m > earth.sea->level_m)
    result.water.push_back({{0.0, earth.sea->level_m}, {0.0, surface_m}});
  return result;
}

/// The matter that a horizontal cut meets in a column whose surface lies at this z.
enum class Met { nothing, earth, water };
Met met_at(const Earth& earth, double z_m, double surface_m) {
  const std::vector<double>& z = earth.grid.edges().z_m;
  const bool draped = earth.grid.reference() == DepthReference::surface;
  const bool below = draped ? z_m >= z.front() : z_m >= surface_m;
  if (below) return z_m <= z.back() ? Met::earth : Met::nothing;
  return !draped && earth.sea && z_m >= earth.sea->level_m ? Met::water : Met::nothing;
}

Slice slice_at(const Earth& earth, double z_m, const std::vector<Site>& sites) {
  const TensorGrid& grid = earth.grid;
  if (grid.dimension() != 3)
    throw core::InvalidArgument("mesh::slice#not_a_volume",
                                "expected a volume for a horizontal cut, got a grid with {} axes",
                                grid.dimension());
  Slice result;
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    for (int ix = 0; ix < grid.n_x(); ++ix) {
      const auto y = static_cast<std::size_t>(iy), x = static_cast<std::size_t>(ix);
      const auto &y_m = grid.edges().y_m, &x_m = grid.edges().x_m;
      const double surface_m = earth.surface.z_at(grid.centre_m(Axis::x, ix), grid.centre_m(Axis::y, iy));
      const Met met = met_at(earth, z_m, surface_m);
      const std::vector<Flat> corners{
          {y_m[y], x_m[x + 1]}, {y_m[y + 1], x_m[x + 1]}, {y_m[y + 1], x_m[x]}, {y_m[y], x_m[x]}};
      if (met == Met::earth)
        result.pieces.push_back({grid.index(grid.nearest(Axis::z, z_m), iy, ix), corners});
      if (met == Met::water) result.water.push_back(corners);
    }
  }
  for (const Site& site : sites) result.sites.push_back({site.name, {site.at.y_m, site.at.x_m}, 0.0});
  return result;
}

}  // namespace

Slice slice(const Earth& earth, const Cut& cut, const std::vector<Site>& sites, double within_m) {
  if (const auto* horizontal = std::get_if<HorizontalCut>(&cut))
    return slice_at(earth, horizontal->z_m, sites);
  if (const auto* vertical = std::get_if<VerticalCut>(&cut))
    return slice_along(earth, track_of(earth, *vertical), sites, within_m);
  if (earth.grid.dimension() == 1) return slice_of_layers(earth);
  if (earth.grid.dimension() == 2) return slice_along(earth, track_of_section(earth), sites, within_m);
  throw core::InvalidArgument(
      "mesh::slice#is_a_volume",
      "expected layers or a section to draw as a whole, got a volume; choose a vertical "
      "or a horizontal cut");
}

}  // namespace lodestone::physics::mesh
