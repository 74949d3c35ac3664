// SPDX-License-Identifier: Apache-2.0
// The hatch and the border of what data do not see.
#include "io/report/slice_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double spacing = 9.0;  // of the lines of a hatch
constexpr double joined = 0.05;  // pieces of a line closer together are one
const Stroke hatch{{0.13, 0.13, 0.13, 0.55}, 0.6, {}}, border{{0.13, 0.13, 0.13, 1.0}, 1.3, {}};

bool unseen(const Eigen::VectorXd& investigated, Eigen::Index cell) { return investigated[cell] < 0.5; }

/// A part of a line of the hatch, from one distance below its start to another.
struct Part {
  double from, to;
};

/// Adds the parts of the lines down to the right, x − y = k · spacing from the corner, inside a convex
/// polygon.
void add_parts(const std::vector<Point>& polygon, Point corner, std::map<int, std::vector<Part>>& lines) {
  const auto across = [&](const Point& at) { return (at.x - corner.x - (at.y - corner.y)) / spacing; };
  const auto [least, most] = std::ranges::minmax(polygon, {}, across);
  for (int k = static_cast<int>(std::ceil(across(least))); k < across(most); ++k) {
    Part part{INFINITY, -INFINITY};
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
      const double at_a = across(a) - k, at_b = across(b) - k;
      if (at_a == at_b || at_a * at_b > 0.0) continue;
      const double down = std::lerp(a.y, b.y, at_a / (at_a - at_b)) - corner.y;
      part = {std::min(part.from, down), std::max(part.to, down)};
    }
    if (part.to > part.from) lines[k].push_back(part);
  }
}

void draw_hatch(Canvas& canvas, std::map<int, std::vector<Part>>& lines, Point corner) {
  for (auto& [k, parts] : lines) {
    std::ranges::sort(parts, {}, &Part::from);
    for (std::size_t i = 0; i < parts.size();) {
      Part whole = parts[i++];
      for (; i < parts.size() && parts[i].from <= whole.to + joined; ++i)
        whole.to = std::max(whole.to, parts[i].to);
      const double x = corner.x + k * spacing;
      canvas.line({x + whole.from, corner.y + whole.from}, {x + whole.to, corner.y + whole.to}, hatch);
    }
  }
}

/// Draws the edges that a piece which is seen shares with one which is not.
void draw_border(Canvas& canvas, const SliceView& view, const Eigen::VectorXd& investigated,
                 const PlaceOfSlice& place) {
  struct Edge {
    mesh::Flat from, to;
    bool unseen;
  };
  std::map<std::array<double, 4>, Edge> edges;
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    if (!view.shows(piece)) continue;
    const bool here = unseen(investigated, piece.cell);
    for (std::size_t i = 0; i < piece.corners.size(); ++i) {
      mesh::Flat a = piece.corners[i], b = piece.corners[(i + 1) % piece.corners.size()];
      if (std::pair(b.u_m, b.v_m) < std::pair(a.u_m, a.v_m)) std::swap(a, b);
      const auto [found, is_new] = edges.try_emplace({a.u_m, a.v_m, b.u_m, b.v_m}, Edge{a, b, here});
      if (!is_new && found->second.unseen != here) canvas.line(place(a), place(b), border);
    }
  }
}

}  // namespace

void draw_unseen(Canvas& canvas, const SliceView& view, const Eigen::VectorXd& investigated, const Box& box,
                 const PlaceOfSlice& place) {
  std::map<int, std::vector<Part>> lines;
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    if (!unseen(investigated, piece.cell) || !view.shows(piece)) continue;
    std::vector<Point> polygon;
    for (const mesh::Flat& corner : piece.corners) polygon.push_back(place(corner));
    add_parts(polygon, {box.x, box.y}, lines);
  }
  draw_hatch(canvas, lines, {box.x, box.y});
  draw_border(canvas, view, investigated, place);
}

}  // namespace lodestone::io::report
