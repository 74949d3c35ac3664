// SPDX-License-Identifier: Apache-2.0
#include "io/model/shapes.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::io::model {
namespace {

namespace mt = physics::mt;
using physics::mesh::DepthReference;
using physics::mesh::Interval;
using physics::mesh::Point;

constexpr double edge_pieces = 64.0;   ///< most pieces of a slanted edge
constexpr double depth_pieces = 16.0;  ///< pieces of the depth of a slanted edge, by default
constexpr int samples = 12;            ///< per direction, in cells that several polygons cut

void require_positive(const std::vector<double>& values, const core::Options& table, const char* key) {
  for (const double v : values) {
    if (!(v > 0.0))
      throw core::ConfigError("io::model::read_model_toml#not_positive",
                              "{}: expected numbers above 0 in \"{}\", got {}", table.where(key), key, v);
  }
}

void require_resistivities(const std::vector<double>& values, const core::Options& table) {
  constexpr const char* key = "resistivity_ohm_m";
  require_positive(values, table, key);
  for (const double v : values) {
    if (!mt::is_in_resistivity_range(v))
      throw core::ConfigError("io::model::read_model_toml#resistivity_out_of_range",
                              "{}: expected {:g} to {:g} ohm m in \"{}\", got {:g}", table.where(key),
                              mt::least_resistivity_ohm_m, mt::largest_resistivity_ohm_m, key, v);
  }
}

/// Refuses coordinates that no section has.
void require_places(std::initializer_list<double> values, const core::Options& table, const char* key) {
  for (const double v : values) {
    if (!(std::abs(v) <= mt::largest_coordinate_m))
      throw core::ConfigError("io::model::read_model_toml#place_out_of_range",
                              "{}: expected {:g} to {:g} m in \"{}\", got {:g}", table.where(key),
                              -mt::largest_coordinate_m, mt::largest_coordinate_m, key, v);
  }
}

/// Refuses a body that the grid could not hold.
void require_extent(double extent_m, const core::Options& table, const char* key, const char* what) {
  if (extent_m >= mt::least_distance_m) return;
  throw core::ConfigError("io::model::read_model_toml#too_thin",
                          "{}: expected {} of {:g} m or more in \"{}\", got {:g}", table.where(key), what,
                          mt::least_distance_m, key, extent_m);
}

/// Refuses a polygon that is too thin somewhere along either axis.
void require_extents(const std::vector<Point>& corners, const core::Options& table) {
  for (const auto coordinate : {&Point::y_m, &Point::z_m}) {
    const auto [least, most] = std::ranges::minmax(corners, {}, coordinate);
    require_extent(most.*coordinate - least.*coordinate, table, "points", "an extent");
  }
}

Layers read_layers(const core::Options& background) {
  Layers layers;
  layers.resistivity_ohm_m = background.reals("resistivity_ohm_m");
  const auto thickness = background.reals("thickness_m", std::vector<double>{});
  if (layers.resistivity_ohm_m.empty())
    throw core::ConfigError(
        "io::model::read_model_toml#no_layers",
        "{}: expected at least one number in \"resistivity_ohm_m\" (one is a half-space), got an empty list",
        background.where("resistivity_ohm_m"));
  require_resistivities(layers.resistivity_ohm_m, background);
  require_positive(thickness, background, "thickness_m");
  require_places({std::reduce(thickness.begin(), thickness.end())}, background, "thickness_m");
  for (const double each : thickness) require_extent(each, background, "thickness_m", "layers");
  if (layers.resistivity_ohm_m.size() != thickness.size() + 1) {
    throw core::ConfigError(
        "io::model::read_model_toml#wrong_thicknesses",
        "{}: expected one thickness less than resistivities (the last layer has no bottom), got {} and {}",
        background.where("resistivity_ohm_m"), thickness.size(), layers.resistivity_ohm_m.size());
  }
  layers.bottoms_m.resize(thickness.size());
  std::partial_sum(thickness.begin(), thickness.end(), layers.bottoms_m.begin());
  return layers;
}

/// Reads the limits of a box along an axis; those that are not given are infinite.
Interval read_limits(const core::Options& table, const char* least, const char* largest) {
  Interval limits;
  const auto read = [&](const char* key, double& end) {
    if (!table.has(key)) return;
    end = table.real(key);
    require_places({end}, table, key);
  };
  read(least, limits.from);
  read(largest, limits.to);
  return limits;
}

Block read_block(const core::Options& table, DepthReference reference) {
  const Interval y_m = read_limits(table, "y_min_m", "y_max_m"),
                 z_m = read_limits(table, "z_min_m", "z_max_m");
  const double resistivity = table.real("resistivity_ohm_m");
  require_resistivities({resistivity}, table);
  if (!(y_m.from < y_m.to) || !(z_m.from < z_m.to)) {
    throw core::ConfigError(
        "io::model::read_model_toml#box_reversed",
        "{}: expected a box with y_min_m < y_max_m and z_min_m < z_max_m, got y {} … {} and z {} … {}",
        table.where(""), y_m.from, y_m.to, z_m.from, z_m.to);
  }
  require_extent(y_m.to - y_m.from, table, table.has("y_max_m") ? "y_max_m" : "y_min_m", "a width");
  require_extent(z_m.to - z_m.from, table, table.has("z_max_m") ? "z_max_m" : "z_min_m", "a height");
  if (reference == DepthReference::surface && z_m.to <= 0.0) {
    throw core::ConfigError(
        "io::model::read_model_toml#box_above_surface",
        "{}: expected a box below the surface, got z_max_m = {}; depths count from the surface, downwards",
        table.where(""), z_m.to);
  }
  return {{.y_m = y_m, .z_m = z_m}, resistivity};
}

/// `points = [[y, z], …]`.
std::vector<core::Options> rows_of_points(const core::Options& table) {
  try {
    return table.children("points");
  } catch (const core::ConfigError&) {  // whose text is about tables
    throw core::ConfigError("io::model::read_model_toml#points_not_pairs",
                            "{}: expected points = [[y, z], …], got something else than a list of pairs",
                            table.where("points"));
  }
}

std::vector<Point> read_points(const core::Options& table) {
  std::vector<Point> points;
  for (const core::Options& point : rows_of_points(table)) {
    const auto pair = point.reals("row");
    if (pair.size() != 2)
      throw core::ConfigError("io::model::read_model_toml#point_not_a_pair",
                              "{}: expected points [y, z] of two numbers, got {} numbers in point {}",
                              table.where("points"), pair.size(), points.size() + 1);
    require_places({pair[0], pair[1]}, table, "points");
    points.push_back({0.0, pair[0], pair[1]});
  }
  if (points.empty())
    throw core::ConfigError("io::model::read_model_toml#no_points",
                            "{}: expected points = [[y, z], …], found none", table.where("points"));
  return points;
}

Region read_region(const core::Options& table) {
  const double resistivity = table.real("resistivity_ohm_m");
  require_resistivities({resistivity}, table);
  const std::vector<Point> corners = read_points(table);
  require_extents(corners, table);
  try {
    return {physics::mesh::Polygon(corners), resistivity};
  } catch (const core::InvalidArgument& error) {
    throw core::ConfigError("io::model::read_model_toml#wrong_polygon", "{}: {}", table.where("points"),
                            error.what());
  }
}

/// Returns the positions along an edge at which grid lines cut it, in 0 … 1, its ends left out; none on
/// upright and level edges.
std::vector<double> cuts_of(const Point& a, const Point& b, const SectionShapes& shapes) {
  const double dy = std::abs(b.y_m - a.y_m), dz = std::abs(b.z_m - a.z_m);
  if (dy == 0.0 || dz == 0.0) return {};
  const double length = std::hypot(dy, dz);
  const double wanted =
      shapes.resolution_m > 0.0 ? shapes.resolution_m : std::min(a.z_m, b.z_m) / depth_pieces;
  const double n = std::ceil(shapes.refine * std::max(dy, dz) / std::max(wanted, length / edge_pieces));
  std::vector<double> cuts;
  for (double i = 1.0; i < n; ++i) cuts.push_back(i / n);
  return cuts;
}

/// Adds one coordinate of all corners and of the cuts of slanted edges.
void add_lines(const SectionShapes& shapes, double Point::*coordinate, std::vector<double>& lines) {
  for (const Region& region : shapes.regions) {
    const auto& corners = region.outline.corners();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
      lines.push_back(a.*coordinate);
      for (const double t : cuts_of(a, b, shapes))
        lines.push_back(a.*coordinate + t * (b.*coordinate - a.*coordinate));
    }
  }
}

}  // namespace

double Layers::at(double z_m) const {
  const auto below = std::upper_bound(bottoms_m.begin(), bottoms_m.end(), z_m) - bottoms_m.begin();
  return resistivity_ohm_m[static_cast<std::size_t>(below)];
}

double SectionShapes::resistivity_ohm_m(const physics::mesh::Box& cell) const {
  const Interval &y_m = cell.y_m, &z_m = cell.z_m;
  const Point centre{0.0, 0.5 * (y_m.from + y_m.to), 0.5 * (z_m.from + z_m.to)};
  const auto block = std::find_if(blocks.rbegin(), blocks.rend(),
                                  [&](const Block& each) { return each.box.contains(centre); });
  double below = block == blocks.rend() ? layers.at(centre.z_m) : block->resistivity_ohm_m;
  std::vector<std::pair<const Region*, double>> cutting;  // from the lowest to the uppermost that is seen
  for (const Region& region : regions) {
    const double share = region.outline.clip_area_fraction(cell);
    constexpr double rounding = 1e-9;
    if (share > 1.0 - rounding) {
      below = region.resistivity_ohm_m;
      cutting.clear();
    } else if (share > rounding) {
      cutting.emplace_back(&region, share);
    }
  }
  if (cutting.empty()) return below;
  if (cutting.size() == 1) {
    const auto [region, share] = cutting.front();
    return 1.0 / (share / region->resistivity_ohm_m + (1.0 - share) / below);
  }
  double sum = 0.0;  // who hides whom is decided point by point
  for (int i = 0; i < samples * samples; ++i) {
    const Point point{0.0, y_m.from + (i / samples + 0.5) / samples * (y_m.to - y_m.from),
                      z_m.from + (i % samples + 0.5) / samples * (z_m.to - z_m.from)};
    const auto seen = std::find_if(cutting.rbegin(), cutting.rend(),
                                   [&](const auto& each) { return each.first->outline.contains(point); });
    sum += 1.0 / (seen == cutting.rend() ? below : seen->first->resistivity_ohm_m);
  }
  return samples * samples / sum;
}

std::vector<double> SectionShapes::y_lines_m() const {
  std::vector<double> lines;
  for (const Block& block : blocks) lines.insert(lines.end(), {block.box.y_m.from, block.box.y_m.to});
  add_lines(*this, &Point::y_m, lines);
  return lines;
}

std::vector<double> SectionShapes::z_lines_m() const {
  std::vector<double> lines = layers.bottoms_m;
  for (const Block& block : blocks) lines.insert(lines.end(), {block.box.z_m.from, block.box.z_m.to});
  add_lines(*this, &Point::z_m, lines);
  return lines;
}

SectionShapes read_section_shapes(const core::Options& root, DepthReference reference) {
  SectionShapes shapes;
  shapes.layers = read_layers(root.child("background"));
  for (const core::Options& table : root.children("box"))
    shapes.blocks.push_back(read_block(table, reference));
  for (const core::Options& table : root.children("polygon")) shapes.regions.push_back(read_region(table));
  if (root.has("resolution_m")) {
    shapes.resolution_m = root.real("resolution_m");
    require_positive({shapes.resolution_m}, root, "resolution_m");
    require_extent(shapes.resolution_m, root, "resolution_m", "a length");
    require_places({shapes.resolution_m}, root, "resolution_m");
  }
  return shapes;
}

physics::mesh::SurfaceLine read_section_surface(const core::Options& root) {
  if (!root.has("surface")) return physics::mesh::SurfaceLine();
  const core::Options table = root.child("surface");
  std::vector<double> y_m, z_m;
  if (table.has("points")) {
    for (const Point& point : read_points(table)) {
      if (!y_m.empty() && point.y_m <= y_m.back())
        throw core::ConfigError("io::model::read_model_toml#surface_turns_back",
                                "{}: expected a surface whose points run from left to right, got y = {} "
                                "after {} (point {}); a surface that turns "
                                "back or crosses itself cannot be used",
                                table.where("points"), point.y_m, y_m.back(), y_m.size() + 1);
      y_m.push_back(point.y_m);
      z_m.push_back(point.z_m);
    }
  } else {
    y_m = table.reals("y_m");
    z_m = table.reals("z_m");
    for (const double y : y_m) require_places({y}, table, "y_m");
    for (const double z : z_m) require_places({z}, table, "z_m");
  }
  try {
    return {std::move(y_m), std::move(z_m)};
  } catch (const core::Error& error) {
    throw core::ConfigError("io::model::read_model_toml#wrong_surface", "{}: {}", table.where(""),
                            error.what());
  }
}

std::optional<physics::mesh::Sea> read_section_sea(const core::Options& root,
                                                   const physics::mesh::SurfaceLine& surface) {
  if (!root.has("sea")) return {};
  const core::Options table = root.child("sea");
  if (!table.has("resistivity_ohm_m"))
    throw core::ConfigError("io::model::read_model_toml#no_sea_resistivity",
                            "{}: expected resistivity_ohm_m of the sea water, found none; 0.3 is usual",
                            table.where(""));
  const physics::mesh::Sea sea{table.real("level_m", 0.0), table.real("resistivity_ohm_m")};
  require_resistivities({sea.resistivity_ohm_m}, table);
  const double lowest_m = *std::max_element(surface.z_m().begin(), surface.z_m().end());
  if (sea.level_m >= lowest_m)
    throw core::ConfigError(
        "io::model::read_model_toml#sea_without_water",
        "{}: expected a sea with water in it, got level_m = {} and a surface that nowhere lies lower than z "
        "= {} m (z is down: a level "
        "above that is less); correct level_m, give the sea floor as [surface], or remove [sea]",
        table.where("level_m"), sea.level_m, lowest_m);
  return sea;
}

}  // namespace lodestone::io::model
