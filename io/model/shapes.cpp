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
using physics::mesh::Axis;
using physics::mesh::Box;
using physics::mesh::DepthReference;
using physics::mesh::Flat;
using physics::mesh::Interval;
using physics::mesh::Plane;
using physics::mesh::Point;
using physics::mesh::Polygon;

constexpr double edge_pieces = 64.0;     ///< most pieces of a slanted edge
constexpr double depth_pieces = 16.0;    ///< pieces of the depth of a slanted edge, by default
constexpr double outline_pieces = 32.0;  ///< pieces of an outline of a volume, by default and at the finest
constexpr int samples = 12;              ///< per direction, in cells that several outlines cut

/// Returns true for the two axes along which an outline has coordinates.
bool spans(Plane plane, Axis axis) { return axis != (plane == Plane::section ? Axis::x : Axis::z); }

[[noreturn]] void refuse_in_section(const std::string& place, const char* what) {
  throw core::ConfigError("io::model::read_model_toml#needs_dimension_3",
                          "{}: expected a section, which has no x, got {}; add dimension = 3 at the top of "
                          "the file to make it a volume",
                          place, what);
}

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

/// Refuses coordinates that no earth has.
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

/// Reads the limits of a body along an axis; those that are not given are infinite.
Interval read_limits(const core::Options& table, Axis axis, int dimension, DepthReference reference) {
  const std::string least = fmt::format("{}_min_m", name(axis)),
                    largest = fmt::format("{}_max_m", name(axis));
  Interval limits;
  const auto read = [&](const std::string& key, double& end) {
    if (!table.has(key)) return;
    if (axis == Axis::x && dimension == 2) refuse_in_section(table.where(key), key.c_str());
    end = table.real(key);
    require_places({end}, table, key.c_str());
  };
  read(least, limits.from);
  read(largest, limits.to);
  if (!(limits.from < limits.to))
    throw core::ConfigError("io::model::read_model_toml#box_reversed", "{}: expected {} < {}, got {} and {}",
                            table.where(""), least, largest, limits.from, limits.to);
  require_extent(limits.length(), table, (table.has(largest) ? largest : least).c_str(), "an extent");
  if (axis == Axis::z && reference == DepthReference::surface && limits.to <= 0.0)
    throw core::ConfigError(
        "io::model::read_model_toml#box_above_surface",
        "{}: expected a body below the surface, got z_max_m = {}; depths count from the surface, downwards",
        table.where(""), limits.to);
  return limits;
}

/// Reads a list of lists of numbers, such as `points = [[y, z], …]`.
std::vector<core::Options> read_rows(const core::Options& table, const char* key, const char* example) {
  std::vector<core::Options> rows;
  try {
    rows = table.children(key);
  } catch (const core::ConfigError&) {  // whose text is about tables
    throw core::ConfigError("io::model::read_model_toml#not_a_list_of_lists",
                            "{}: expected {} = {}, got something else than a list of lists of numbers",
                            table.where(key), key, example);
  }
  if (rows.empty())
    throw core::ConfigError("io::model::read_model_toml#empty_list", "{}: expected {} = {}, found none",
                            table.where(key), key, example);
  return rows;
}

/// Reads `points`, pairs of coordinates in a plane.
std::vector<Flat> read_points(const core::Options& table, Plane plane) {
  const char* pair = plane == Plane::section ? "[y, z]" : "[x, y]";
  std::vector<Flat> points;
  for (const core::Options& point : read_rows(table, "points", fmt::format("[{}, …]", pair).c_str())) {
    const auto row = point.reals("row");
    if (row.size() != 2)
      throw core::ConfigError("io::model::read_model_toml#point_not_a_pair",
                              "{}: expected points {} of two numbers, got {} numbers in point {}",
                              table.where("points"), pair, row.size(), points.size() + 1);
    require_places({row[0], row[1]}, table, "points");
    points.push_back({row[0], row[1]});
  }
  return points;
}

/// Reads an outline that is not too thin along either axis.
Polygon read_outline(const core::Options& table, Plane plane) {
  const std::vector<Flat> corners = read_points(table, plane);
  for (const auto coordinate : {&Flat::u_m, &Flat::v_m}) {
    const auto [least, most] = std::ranges::minmax(corners, {}, coordinate);
    require_extent(most.*coordinate - least.*coordinate, table, "points", "an extent");
  }
  try {
    return Polygon(physics::mesh::points(corners, plane), plane);
  } catch (const core::InvalidArgument& error) {
    throw core::ConfigError("io::model::read_model_toml#wrong_polygon", "{}: {}", table.where("points"),
                            error.what());
  }
}

/// Adds the bodies of one kind: boxes, or outlines in a plane.
void add_bodies(Shapes& shapes, const std::vector<core::Options>& tables, std::optional<Plane> plane,
                DepthReference reference) {
  for (const core::Options& table : tables) {
    Body body;
    if (plane) {
      body.outline = read_outline(table, *plane);
      body.box = body.outline->bounding_box();
    }
    for (const Axis axis : physics::mesh::all_axes) {
      if (!plane || !spans(*plane, axis))
        body.box[axis] = read_limits(table, axis, shapes.dimension, reference);
    }
    body.resistivity_ohm_m = table.real("resistivity_ohm_m");
    require_resistivities({body.resistivity_ohm_m}, table);
    shapes.bodies.push_back(std::move(body));
  }
}

/// An edge of an outline.
struct Edge {
  Point from, to;
  double du_m, dv_m;  ///< extents along the axes of its plane
  [[nodiscard]] double length_m() const { return std::hypot(du_m, dv_m); }
};

std::vector<Edge> edges_of(const Polygon& outline) {
  const std::vector<Point>& corners = outline.corners();
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point &from = corners[i], &to = corners[(i + 1) % corners.size()];
    const Flat a = flat(from, outline.plane()), b = flat(to, outline.plane());
    edges.push_back({from, to, std::abs(b.u_m - a.u_m), std::abs(b.v_m - a.v_m)});
  }
  return edges;
}

/// Returns the least size of pieces of an edge, unless the file states it.
double usual_piece_m(const Shapes& shapes, const Body& body, const std::vector<Edge>& edges,
                     const Edge& edge) {
  const double top_m =
      body.outline->plane() == Plane::section ? std::min(edge.from.z_m, edge.to.z_m) : body.box.z_m.from;
  if (shapes.dimension == 2) return top_m / depth_pieces;
  double length_m = 0.0;
  for (const Edge& each : edges) length_m += each.length_m();
  return std::max(top_m / depth_pieces, length_m / outline_pieces);
}

/// Adds one coordinate of all corners of an outline, and of grid lines that cut its slanted edges.
void add_lines(const Shapes& shapes, const Body& body, Axis axis, std::vector<double>& lines) {
  const std::vector<Edge> edges = edges_of(*body.outline);
  for (const Edge& edge : edges) {
    const double from = edge.from[axis], to = edge.to[axis];
    lines.push_back(from);
    if (edge.du_m == 0.0 || edge.dv_m == 0.0) continue;  // upright or level
    const double wanted =
        shapes.resolution_m > 0.0 ? shapes.resolution_m : usual_piece_m(shapes, body, edges, edge);
    const double n = std::ceil(shapes.refine * std::max(edge.du_m, edge.dv_m) /
                               std::max(wanted, edge.length_m() / edge_pieces));
    for (double i = 1.0; i < n; ++i) lines.push_back(from + i / n * (to - from));
  }
}

/// Returns the coordinate at a share of an interval, 0 on an axis without bounds.
double at_share(const Interval& interval, double share) {
  return std::isfinite(interval.length()) ? interval.from + share * interval.length() : 0.0;
}

/// Outlines that cut a cell and their shares of it, from the lowest to the uppermost that is seen.
using Cutting = std::vector<std::pair<const Body*, double>>;

/// Returns the resistivity of the mean conductivity of a cell that several outlines cut. It is taken from
/// points, as one outline may hide another.
double sampled_resistivity(const Box& cell, const Cutting& cutting, double below_ohm_m) {
  const auto n_along = [&](Axis axis) {
    return std::ranges::any_of(cutting,
                               [&](const auto& each) { return spans(each.first->outline->plane(), axis); })
               ? samples
               : 1;
  };
  const int n_x = n_along(Axis::x), n_y = n_along(Axis::y), n_z = n_along(Axis::z);
  double sum = 0.0;
  for (int i = 0; i < n_x * n_y * n_z; ++i) {
    const Point point{at_share(cell.x_m, (i / (n_y * n_z) + 0.5) / n_x),
                      at_share(cell.y_m, (i / n_z % n_y + 0.5) / n_y),
                      at_share(cell.z_m, (i % n_z + 0.5) / n_z)};
    const auto seen = std::find_if(cutting.rbegin(), cutting.rend(),
                                   [&](const auto& each) { return each.first->outline->contains(point); });
    sum += 1.0 / (seen == cutting.rend() ? below_ohm_m : seen->first->resistivity_ohm_m);
  }
  return n_x * n_y * n_z / sum;
}

/// Returns the share of a cell within an outline, and keeps the strip of the cell.
double share_of(const physics::mesh::Polygon& outline, const Box& cell,
                physics::mesh::Polygon::Strip& strip) {
  const Interval u = outline.first_range(cell);
  if (!(strip.u.from == u.from && strip.u.to == u.to)) strip = outline.strip(u);
  return outline.clip_area_fraction(strip, cell);
}

std::vector<double> read_places(const core::Options& table, const char* key) {
  std::vector<double> places = table.reals(key);
  for (const double place : places) require_places({place}, table, key);
  return places;
}

/// Reads the points of a surface line from left to right.
physics::mesh::SurfaceLine read_surface_points(const core::Options& table) {
  std::vector<double> y_m, z_m;
  for (const auto& [y, z] : read_points(table, Plane::section)) {
    if (!y_m.empty() && y <= y_m.back())
      throw core::ConfigError("io::model::read_model_toml#surface_turns_back",
                              "{}: expected a surface whose points run from left to right, got y = {} "
                              "after {} (point {}); a surface that turns "
                              "back or crosses itself cannot be used",
                              table.where("points"), y, y_m.back(), y_m.size() + 1);
    y_m.push_back(y);
    z_m.push_back(z);
  }
  return {std::move(y_m), std::move(z_m)};
}

/// Reads a surface given on a grid: for each x a row of z along y.
physics::mesh::Surface read_map(const core::Options& table) {
  std::vector<double> x_m = read_places(table, "x_m"), y_m = read_places(table, "y_m");
  const std::vector<core::Options> rows = read_rows(table, "z_m", "[[z at each y], … one row for each x]");
  Eigen::MatrixXd z_m(std::ssize(rows), std::ssize(y_m));
  for (Eigen::Index i = 0; i < z_m.rows(); ++i) {
    const core::Options& row = rows[static_cast<std::size_t>(i)];
    const std::vector<double> z = row.reals("row");
    if (z.size() != y_m.size())
      throw core::ConfigError("io::model::read_model_toml#ragged_surface",
                              "{}: expected {} depths in each row of z_m, one for each y, got {} in row {}",
                              row.where("row"), y_m.size(), z.size(), i + 1);
    for (const double each : z) require_places({each}, row, "row");
    z_m.row(i) = Eigen::Map<const Eigen::RowVectorXd>(z.data(), z_m.cols());
  }
  return {std::move(x_m), std::move(y_m), std::move(z_m)};
}

}  // namespace

double Layers::at(double z_m) const {
  const auto below = std::upper_bound(bottoms_m.begin(), bottoms_m.end(), z_m) - bottoms_m.begin();
  return resistivity_ohm_m[static_cast<std::size_t>(below)];
}

double Shapes::resistivity_ohm_m(const Box& cell, Strips& strips) const {
  strips.resize(bodies.size());
  const Point centre{at_share(cell.x_m, 0.5), at_share(cell.y_m, 0.5), at_share(cell.z_m, 0.5)};
  double below = layers.at(centre.z_m);
  Cutting cutting;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Body& body = bodies[i];
    if (!body.box.contains(centre)) continue;
    const double share = body.outline ? share_of(*body.outline, cell, strips[i]) : 1.0;
    constexpr double rounding = 1e-9;
    if (share > 1.0 - rounding) {
      below = body.resistivity_ohm_m;
      cutting.clear();
    } else if (share > rounding) {
      cutting.emplace_back(&body, share);
    }
  }
  if (cutting.empty()) return below;
  if (cutting.size() > 1) return sampled_resistivity(cell, cutting, below);
  const auto [body, share] = cutting.front();
  return 1.0 / (share / body->resistivity_ohm_m + (1.0 - share) / below);
}

std::vector<double> Shapes::lines_m(Axis axis) const {
  std::vector<double> lines = axis == Axis::z ? layers.bottoms_m : std::vector<double>{};
  for (const Body& body : bodies) {
    lines.insert(lines.end(), {body.box[axis].from, body.box[axis].to});
    if (body.outline && spans(body.outline->plane(), axis)) add_lines(*this, body, axis, lines);
  }
  return lines;
}

Shapes read_shapes(const core::Options& root, DepthReference reference) {
  Shapes shapes;
  const std::int64_t dimension = root.integer("dimension", 2);
  if (dimension != 2 && dimension != 3)
    throw core::ConfigError("io::model::read_model_toml#wrong_dimension",
                            "{}: expected dimension = 2, a section, or 3, a volume, got {}",
                            root.where("dimension"), dimension);
  shapes.dimension = static_cast<int>(dimension);
  shapes.layers = read_layers(root.child("background"));
  const std::vector<core::Options> prisms = root.children("prism");
  if (shapes.dimension == 2 && !prisms.empty()) refuse_in_section(prisms.front().where(""), "a prism");
  add_bodies(shapes, root.children("box"), {}, reference);
  add_bodies(shapes, root.children("polygon"), Plane::section, reference);
  add_bodies(shapes, prisms, Plane::plan, reference);
  if (root.has("resolution_m")) {
    shapes.resolution_m = root.real("resolution_m");
    require_positive({shapes.resolution_m}, root, "resolution_m");
    require_extent(shapes.resolution_m, root, "resolution_m", "a length");
    require_places({shapes.resolution_m}, root, "resolution_m");
  }
  return shapes;
}

physics::mesh::Surface read_surface(const core::Options& root, int dimension) {
  if (!root.has("surface")) return physics::mesh::Surface();
  const core::Options table = root.child("surface");
  const bool is_map = table.has("x_m");
  if (is_map && dimension == 2) refuse_in_section(table.where("x_m"), "x_m");
  try {
    if (is_map) return read_map(table);
    if (table.has("points")) return read_surface_points(table);
    return physics::mesh::SurfaceLine(read_places(table, "y_m"), read_places(table, "z_m"));
  } catch (const core::ConfigError&) {
    throw;
  } catch (const core::Error& error) {
    throw core::ConfigError("io::model::read_model_toml#wrong_surface", "{}: {}", table.where(""),
                            error.what());
  }
}

std::optional<physics::mesh::Sea> read_sea(const core::Options& root, const physics::mesh::Surface& surface) {
  if (!root.has("sea")) return {};
  const core::Options table = root.child("sea");
  if (!table.has("resistivity_ohm_m"))
    throw core::ConfigError("io::model::read_model_toml#no_sea_resistivity",
                            "{}: expected resistivity_ohm_m of the sea water, found none; 0.3 is usual",
                            table.where(""));
  const physics::mesh::Sea sea{table.real("level_m", 0.0), table.real("resistivity_ohm_m")};
  require_resistivities({sea.resistivity_ohm_m}, table);
  if (sea.level_m >= surface.lowest_m())
    throw core::ConfigError(
        "io::model::read_model_toml#sea_without_water",
        "{}: expected a sea with water in it, got level_m = {} and a surface that nowhere lies lower than z "
        "= {} m (z is down: a level "
        "above that is less); correct level_m, give the sea floor as [surface], or remove [sea]",
        table.where("level_m"), sea.level_m, surface.lowest_m());
  return sea;
}

}  // namespace lodestone::io::model
