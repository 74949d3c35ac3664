// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/outline.hpp"

#include <algorithm>
#include <array>

namespace lodestone::physics::mesh {
namespace {

/// Vertical lines of nodes at the edges of the columns; a missing axis has a single line at 0.
class Lines {
 public:
  explicit Lines(const Earth& earth)
      : earth_(earth), x_(places(earth.grid, Axis::x)), y_(places(earth.grid, Axis::y)) {
    for (const double y : y_) {
      for (const double x : x_) surface_.push_back(earth.surface.z_at(x, y));
    }
  }

  [[nodiscard]] std::size_t n_lines() const { return surface_.size(); }
  [[nodiscard]] std::size_t per_line() const { return earth_.grid.edges().z_m.size(); }
  [[nodiscard]] std::size_t node(std::size_t line, int edge) const {
    return line * per_line() + static_cast<std::size_t>(edge);
  }
  [[nodiscard]] Point surface(std::size_t line) const {
    return {x_[line % x_.size()], y_[line / x_.size()], surface_[line]};
  }
  [[nodiscard]] Point place_of(std::size_t line, int edge) const {
    Point at = surface(line);
    at.z_m = true_z_m(earth_.grid, earth_.grid.edges().z_m[static_cast<std::size_t>(edge)], at.z_m);
    return at;
  }
  /// Returns the lines at the edges of a column, around it: 1, 2 or 4.
  [[nodiscard]] std::vector<std::size_t> around(int iy, int ix) const {
    const auto line = [&](int y, int x) {
      return static_cast<std::size_t>(y) * x_.size() + static_cast<std::size_t>(x);
    };
    if (earth_.grid.dimension() == 1) return {0};
    if (earth_.grid.dimension() == 2) return {line(iy, 0), line(iy + 1, 0)};
    return {line(iy, ix), line(iy + 1, ix), line(iy + 1, ix + 1), line(iy, ix + 1)};
  }

 private:
  [[nodiscard]] static std::vector<double> places(const TensorGrid& grid, Axis axis) {
    return grid.has(axis) ? grid.edges_m(axis) : std::vector<double>{0.0};
  }

  const Earth& earth_;
  std::vector<double> x_, y_, surface_;
};

/// Returns the numbers of the corners of the block between two levels of these lines.
template <class Node>
std::vector<std::size_t> block(const std::vector<std::size_t>& lines, Node&& node) {
  if (lines.size() == 2) return {node(lines[0], 0), node(lines[0], 1), node(lines[1], 1), node(lines[1], 0)};
  if (lines.size() == 1) return {node(lines[0], 0), node(lines[0], 1)};
  std::vector<std::size_t> corners;
  for (const int level : {1, 0}) {
    for (const std::size_t line : lines) corners.push_back(node(line, level));
  }
  return corners;
}

void add_earth(const TensorGrid& grid, const Lines& lines, Outline& to) {
  for (std::size_t line = 0; line < lines.n_lines(); ++line) {
    for (int edge = 0; edge <= grid.n_z(); ++edge) to.corners.push_back(lines.place_of(line, edge));
  }
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    const auto has_thickness = [&](std::size_t line) {
      return to.corners[lines.node(line, iz + 1)].z_m > to.corners[lines.node(line, iz)].z_m;
    };
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        const std::vector<std::size_t> around = lines.around(iy, ix);
        if (std::ranges::none_of(around, has_thickness)) continue;
        const auto node = [&](std::size_t line, int level) { return lines.node(line, iz + level); };
        to.cells.push_back({grid.index(iz, iy, ix), block(around, node)});
      }
    }
  }
}

/// Adds a cell of water with these places as corners.
void add_water_cell(const std::vector<Point>& places, Outline& to) {
  OutlineCell cell{.cell = -1, .corners = {}};
  for (const Point& place : places) {
    cell.corners.push_back(to.corners.size());
    to.corners.push_back(place);
  }
  to.cells.push_back(std::move(cell));
}

/// Returns where the floor between two edges of a column meets the level of the sea.
Point coast(const Point& a, const Point& b, double level_m) {
  const double rise = level_m - a.z_m, drop = b.z_m - a.z_m;
  return {a.x_m + (b.x_m - a.x_m) * rise / drop, a.y_m + (b.y_m - a.y_m) * rise / drop, level_m};
}

void add_water_2d(const Point& left, const Point& right, double level_m, Outline& to) {
  if (left.z_m <= level_m && right.z_m <= level_m) return;
  const auto top = [&](const Point& edge) {
    return edge.z_m > level_m ? Point{0.0, edge.y_m, level_m} : coast(left, right, level_m);
  };
  std::vector<Point> places{top(left)};
  if (left.z_m > level_m) places.push_back(left);
  if (right.z_m > level_m) places.push_back(right);
  places.push_back(top(right));
  add_water_cell(places, to);
}

/// Returns the floor of the water within a column, in plan around it: its edges below the level, and the
/// coast.
std::vector<Point> wet_floor(const std::vector<Point>& floor, double level_m) {
  std::vector<Point> wet;
  for (std::size_t i = 0; i < floor.size(); ++i) {
    const Point &here = floor[i], &next = floor[(i + 1) % floor.size()];
    const bool here_wet = here.z_m > level_m, next_wet = next.z_m > level_m;
    if (here_wet) wet.push_back(here);
    if (here_wet != next_wet) wet.push_back(coast(here, next, level_m));
  }
  return wet;
}

/// Adds a block where all edges of the column are below the level, else wedges around the first place of the
/// floor.
void add_water_3d(const std::vector<Point>& floor, double level_m, Outline& to) {
  const std::vector<Point> wet = wet_floor(floor, level_m);
  const auto add = [&](std::vector<Point> places) {
    const std::size_t n = places.size();
    for (std::size_t i = 0; i < n; ++i) places.push_back({places[i].x_m, places[i].y_m, level_m});
    add_water_cell(places, to);
  };
  if (wet == floor) {
    add(wet);
    return;
  }
  for (std::size_t i = 2; i < wet.size(); ++i) add({wet[0], wet[i - 1], wet[i]});
}

void add_sea(const Earth& earth, const Lines& lines, Outline& to) {
  const double level_m = earth.sea->level_m;
  for (int iy = 0; iy < earth.grid.n_y(); ++iy) {
    for (int ix = 0; ix < earth.grid.n_x(); ++ix) {
      std::vector<Point> floor;
      for (const std::size_t line : lines.around(iy, ix)) floor.push_back(lines.surface(line));
      if (floor.size() == 2) {
        add_water_2d(floor[0], floor[1], level_m, to);
      } else if (floor.size() == 4) {
        add_water_3d(floor, level_m, to);
      } else if (floor[0].z_m > level_m) {
        add_water_cell({{floor[0].x_m, floor[0].y_m, level_m}, floor[0]}, to);
      }
    }
  }
}

}  // namespace

std::vector<Point> Outline::corners_of(const OutlineCell& cell) const {
  std::vector<Point> places;
  for (const std::size_t corner : cell.corners) places.push_back(corners[corner]);
  return places;
}

Outline outline(const Earth& earth) {
  const Lines lines(earth);
  Outline result{.dimension = earth.grid.dimension(), .corners = {}, .cells = {}};
  add_earth(earth.grid, lines, result);
  if (earth.sea) add_sea(earth, lines, result);
  return result;
}

}  // namespace lodestone::physics::mesh
