// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/tear.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

/// Returns between which shares of its length a segment lies inside, if anywhere. source: Liang & Barsky
/// 1984.
std::optional<std::pair<double, double>> inside(Flat a, Flat b, const Interval& u, const Interval& v) {
  double first = 0.0, last = 1.0;
  for (const auto& [at_a, at_b] :
       {std::pair{a.u_m - u.from, b.u_m - u.from}, std::pair{u.to - a.u_m, u.to - b.u_m},
        std::pair{a.v_m - v.from, b.v_m - v.from}, std::pair{v.to - a.v_m, v.to - b.v_m}}) {
    if (at_a < 0.0 && at_b < 0.0) return std::nullopt;
    if (at_a < 0.0) first = std::max(first, at_a / (at_a - at_b));
    if (at_b < 0.0) last = std::min(last, at_a / (at_a - at_b));
  }
  if (first > last) return std::nullopt;
  return std::pair{first, last};
}

/// Returns the depths at which the segment from a to b, which meets the line from c to d in plan, passes it.
Interval depths_of_crossing(const Point& a, const Point& b, Flat c, Flat d) {
  const double a_side = turn(c, d, flat(a, Plane::plan)), b_side = turn(c, d, flat(b, Plane::plan));
  if (a_side == b_side) return {std::min(a.z_m, b.z_m), std::max(a.z_m, b.z_m)};  // it runs along the line
  const double t = a_side / (a_side - b_side), z_m = (1.0 - t) * a.z_m + t * b.z_m;
  return {z_m, z_m};
}

bool crosses_piece(const Tear& tear, std::size_t i, const Point& a, const Point& b) {
  const Flat c = flat(tear.points[i], tear.plane), d = flat(tear.points[i + 1], tear.plane);
  const Flat from = flat(a, tear.plane), to = flat(b, tear.plane);
  if (tear.plane == Plane::section) return segments_meet({from, to}, {c, d});
  if (from == to || !segments_meet({from, to}, {c, d})) return false;
  const Interval z = depths_of_crossing(a, b, c, d);
  return z.from <= tear.z_m.to && tear.z_m.from <= z.to;
}

}  // namespace

void check(const Tear& tear) {
  if (tear.points.size() < 2)
    throw core::InvalidArgument("mesh::Tear#too_few_points", "expected at least two points, got {}",
                                tear.points.size());
  for (const Point& point : tear.points) {
    const auto [u, v] = flat(point, tear.plane);
    if (std::isfinite(u) && std::isfinite(v)) continue;
    const bool in_section = tear.plane == Plane::section;
    throw core::InvalidArgument("mesh::Tear#point_not_finite",
                                "expected finite points, got {} = {} m, {} = {} m", in_section ? "y" : "x", u,
                                in_section ? "z" : "y", v);
  }
  if (!(tear.weight >= 0.0 && tear.weight <= 1.0))
    throw core::InvalidArgument("mesh::Tear#wrong_weight", "expected a weight from 0 to 1, got {}",
                                tear.weight);
  if (!(tear.z_m.from < tear.z_m.to))
    throw core::InvalidArgument("mesh::Tear#depths_not_increasing",
                                "expected a curtain with increasing depths, got z {} … {} m", tear.z_m.from,
                                tear.z_m.to);
}

bool crosses(const Tear& tear, const Point& a, const Point& b) {
  for (std::size_t i = 0; i + 1 < tear.points.size(); ++i) {
    if (crosses_piece(tear, i, a, b)) return true;
  }
  return false;
}

double weight_across(const std::vector<Tear>& tears, const Point& a, const Point& b) {
  double weight = 1.0;
  for (const Tear& tear : tears) {
    if (crosses(tear, a, b)) weight = std::min(weight, tear.weight);
  }
  return weight;
}

double Areas::weight_across(Eigen::Index cell, Eigen::Index other) const {
  if (of_cell.empty()) return 1.0;
  const int a = of_cell[static_cast<std::size_t>(cell)], b = of_cell[static_cast<std::size_t>(other)];
  if (a == b) return 1.0;
  const auto is_it = [&](const Border& border) {
    return (border.area == a && border.other_area == b) || (border.area == b && border.other_area == a);
  };
  const auto found = std::ranges::find_if(borders, is_it);
  return found == borders.end() ? 1.0 : found->weight;
}

std::vector<OutsidePiece> pieces_outside(const Tear& tear, const Box& box) {
  const bool in_section = tear.plane == Plane::section;
  const Interval u = in_section ? box.y_m : box.x_m, v = in_section ? box.z_m : box.y_m;
  std::vector<OutsidePiece> pieces;
  double reached = -1.0;  // where the last piece ends: number of the segment and share of its length
  for (std::size_t i = 0; i + 1 < tear.points.size(); ++i) {
    const Point &from_point = tear.points[i], &to_point = tear.points[i + 1];
    const Flat a = flat(from_point, tear.plane), b = flat(to_point, tear.plane);
    const auto add = [&](double from, double to) {
      if (!(from < to)) return;
      const auto at = [&](double t) {
        Point point;
        for (const Axis axis : all_axes) point[axis] = (1.0 - t) * from_point[axis] + t * to_point[axis];
        return point;
      };
      if (static_cast<double>(i) + from != reached) pieces.push_back({at(from), at(to), 0.0});
      pieces.back().to = at(to);
      pieces.back().length_m += (to - from) * std::hypot(b.u_m - a.u_m, b.v_m - a.v_m);
      reached = static_cast<double>(i) + to;
    };
    const auto [first, last] = inside(a, b, u, v).value_or(std::pair{1.0, 1.0});
    add(0.0, first);
    add(last, 1.0);
  }
  return pieces;
}

Eigen::Index n_faces_crossed(const Cells& cells, const Tear& tear) {
  return std::ranges::count_if(cells.faces, [&](const Face& face) {
    return crosses(tear, cells.centre[static_cast<std::size_t>(face.a)],
                   cells.centre[static_cast<std::size_t>(face.b)]);
  });
}

}  // namespace lodestone::physics::mesh
