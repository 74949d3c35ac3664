// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/shapes.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

/// The names of the two coordinates of a plane, for messages.
struct Names {
  const char *u, *v;
};
Names names_of(Plane plane) { return plane == Plane::section ? Names{"y", "z"} : Names{"x", "y"}; }

/// Returns true when c, known to lie on the line through a and b, lies between them.
bool between(Flat a, Flat b, Flat c) {
  return std::min(a.u_m, b.u_m) <= c.u_m && c.u_m <= std::max(a.u_m, b.u_m) &&
         std::min(a.v_m, b.v_m) <= c.v_m && c.v_m <= std::max(a.v_m, b.v_m);
}

bool opposite(double a, double b) { return (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0); }

/// Returns twice the signed area; corners are counted from the first one, so that a small polygon far from
/// the origin keeps its digits.
double twice_area(const std::vector<Flat>& corners) {
  double sum = 0.0;
  for (std::size_t i = 2; i < corners.size(); ++i) sum += turn(corners[0], corners[i - 1], corners[i]);
  return sum;
}

/// Returns the part of a polygon where `depth_inside(corner)` is not negative; that function is linear in the
/// position.
template <class Inside>
std::vector<Flat> clipped(const std::vector<Flat>& corners, Inside&& depth_inside) {
  std::vector<Flat> result;
  result.reserve(corners.size() + 2);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Flat from = corners[i], to = corners[(i + 1) % corners.size()];
    const double a = depth_inside(from), b = depth_inside(to);
    if (a >= 0.0) result.push_back(from);
    if (opposite(a, b)) {
      const double t = a / (a - b);
      result.push_back({from.u_m + t * (to.u_m - from.u_m), from.v_m + t * (to.v_m - from.v_m)});
    }
  }
  return result;
}

void check_corners(const std::vector<Flat>& corners, Names names, std::string_view what) {
  if (corners.size() < 3)
    throw core::InvalidArgument("mesh::Polygon#too_few_corners",
                                "{}: expected at least three corners, got {}", what, corners.size());
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Flat here = corners[i], next = corners[(i + 1) % corners.size()];
    if (!std::isfinite(here.u_m) || !std::isfinite(here.v_m))
      throw core::InvalidArgument("mesh::Polygon#corner_not_finite",
                                  "{}: expected finite corners, got corner {} at {} = {} m, {} = {} m", what,
                                  i + 1, names.u, here.u_m, names.v, here.v_m);
    if (here == next)
      throw core::InvalidArgument(
          "mesh::Polygon#repeated_corner",
          "{}: corners {} and {} are one point ({} = {} m, {} = {} m); remove one (the "
          "outline closes by itself)",
          what, i + 1, (i + 1) % corners.size() + 1, names.u, here.u_m, names.v, here.v_m);
  }
}

void check_edges(const std::vector<Flat>& corners, Names names, std::string_view what) {
  const std::size_t n = corners.size();
  const auto corner = [&](std::size_t i) { return corners[i % n]; };
  const auto refuse = [&](std::size_t i, std::size_t j) {
    throw core::InvalidArgument("mesh::Polygon#edges_cross",
                                "{}: edges {}–{} and {}–{} cross or touch (near {} = {:g} m, {} = {:g} m); "
                                "give the corners in order around the region",
                                what, i + 1, (i + 1) % n + 1, j + 1, (j + 1) % n + 1, names.u, corner(j).u_m,
                                names.v, corner(j).v_m);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Flat a = corner(i), b = corner(i + 1), c = corner(i + 2);
    if (turn(a, b, c) == 0.0 && (b.u_m - a.u_m) * (c.u_m - b.u_m) + (b.v_m - a.v_m) * (c.v_m - b.v_m) < 0.0)
      refuse(i, (i + 1) % n);  // the outline turns back on itself
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;  // neighbours share their corner
      if (segments_meet({a, b}, {corner(j), corner(j + 1)})) refuse(i, j);
    }
  }
}

std::vector<Flat> flattened(const std::vector<Point>& corners, Plane plane) {
  std::vector<Flat> result;
  for (const Point& corner : corners) result.push_back(flat(corner, plane));
  return result;
}

/// Returns the ranges of a box along the two coordinates of a plane.
std::pair<Interval, Interval> ranges_of(const Box& box, Plane plane) {
  return plane == Plane::section ? std::pair{box.y_m, box.z_m} : std::pair{box.x_m, box.y_m};
}

}  // namespace

std::vector<Point> points(const std::vector<Flat>& places, Plane plane) {
  std::vector<Point> result;
  for (const Flat& place : places) result.push_back(point(place, plane));
  return result;
}

bool segments_meet(const std::array<Flat, 2>& first, const std::array<Flat, 2>& second) {
  const auto [a, b] = first;
  const auto [c, d] = second;
  const double c_side = turn(a, b, c), d_side = turn(a, b, d), a_side = turn(c, d, a), b_side = turn(c, d, b);
  if (opposite(c_side, d_side) && opposite(a_side, b_side)) return true;
  return (c_side == 0.0 && between(a, b, c)) || (d_side == 0.0 && between(a, b, d)) ||
         (a_side == 0.0 && between(c, d, a)) || (b_side == 0.0 && between(c, d, b));
}

Polygon::Polygon(std::vector<Point> corners, Plane plane, std::string_view what)
    : corners_(std::move(corners)), outline_(flattened(corners_, plane)), plane_(plane) {
  check_corners(outline_, names_of(plane), what);
  check_edges(outline_, names_of(plane), what);
  if (twice_area(outline_) == 0.0)
    throw core::InvalidArgument("mesh::Polygon#corners_on_one_line", "{}: all corners lie on one line", what);
}

bool Polygon::contains(const Point& point) const {
  const Flat at = flat(point, plane_);
  bool inside = false;
  for (std::size_t i = 0; i < outline_.size(); ++i) {
    Flat a = outline_[i], b = outline_[(i + 1) % outline_.size()];
    if ((a.v_m > at.v_m) == (b.v_m > at.v_m)) continue;
    if (a.v_m > b.v_m) std::swap(a, b);          // the same arithmetic for either polygon that has this edge
    if (turn(a, b, at) > 0.0) inside = !inside;  // the ray along the first coordinate crosses the edge
  }
  return inside;
}

double Polygon::signed_area_m2() const { return 0.5 * twice_area(outline_); }

Box Polygon::bounding_box() const {
  const auto [u_min, u_max] = std::ranges::minmax(outline_, {}, &Flat::u_m);
  const auto [v_min, v_max] = std::ranges::minmax(outline_, {}, &Flat::v_m);
  const Interval u{u_min.u_m, u_max.u_m}, v{v_min.v_m, v_max.v_m};
  return plane_ == Plane::section ? Box{.y_m = u, .z_m = v} : Box{.x_m = u, .y_m = v};
}

double Polygon::clip_area_fraction(const Box& box) const {
  return clip_area_fraction(strip(first_range(box)), box);
}

Interval Polygon::first_range(const Box& box) const { return ranges_of(box, plane_).first; }

Polygon::Strip Polygon::strip(const Interval& u) const {
  std::vector<Flat> part = clipped(outline_, [&](Flat p) { return p.u_m - u.from; });
  return {u, clipped(part, [&](Flat p) { return u.to - p.u_m; })};
}

double Polygon::clip_area_fraction(const Strip& strip, const Box& box) const {
  const Interval u = strip.u, v = ranges_of(box, plane_).second;
  const double area = u.length() * v.length();
  if (!(u.from < u.to && v.from < v.to && std::isfinite(area))) {
    const Names names = names_of(plane_);
    throw core::InvalidArgument("mesh::Polygon#no_area",
                                "expected a rectangle with an area, got {} {} … {} m, {} {} … {} m", names.u,
                                u.from, u.to, names.v, v.from, v.to);
  }
  std::vector<Flat> part = clipped(strip.outline, [&](Flat p) { return p.v_m - v.from; });
  part = clipped(part, [&](Flat p) { return v.to - p.v_m; });
  return std::clamp(0.5 * std::abs(twice_area(part)) / area, 0.0, 1.0);
}

bool contains(const Shape& shape, const Point& point) {
  return std::visit([&](const auto& each) { return each.contains(point); }, shape);
}

}  // namespace lodestone::physics::mesh
