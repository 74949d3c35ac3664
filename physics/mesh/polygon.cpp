// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/polygon.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

constexpr const char* component = "mesh::Polygon2D";

/// Twice the signed area of the triangle a, b, c; 0 where the three lie on a line.
double turn(Point2D a, Point2D b, Point2D c) {
  return (b.y_m - a.y_m) * (c.z_m - a.z_m) - (b.z_m - a.z_m) * (c.y_m - a.y_m);
}

/// Whether c, known to lie on the line through a and b, lies between them.
bool between(Point2D a, Point2D b, Point2D c) {
  return std::min(a.y_m, b.y_m) <= c.y_m && c.y_m <= std::max(a.y_m, b.y_m) &&
         std::min(a.z_m, b.z_m) <= c.z_m && c.z_m <= std::max(a.z_m, b.z_m);
}

bool opposite(double a, double b) { return (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0); }

/// Twice the signed area; corners counted from the first one, so that a small polygon far from the origin
/// keeps its digits.
double twice_area(const std::vector<Point2D>& corners) {
  double sum = 0.0;
  for (std::size_t i = 2; i < corners.size(); ++i) sum += turn(corners[0], corners[i - 1], corners[i]);
  return sum;
}

/// The part of a polygon where `depth_inside(corner)` is not negative; that function is linear in the
/// position.
template <class Inside>
std::vector<Point2D> clipped(const std::vector<Point2D>& corners, Inside&& depth_inside) {
  std::vector<Point2D> result;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point2D from = corners[i], to = corners[(i + 1) % corners.size()];
    const double a = depth_inside(from), b = depth_inside(to);
    if (a >= 0.0) result.push_back(from);
    if (opposite(a, b)) {
      const double t = a / (a - b);
      result.push_back({from.y_m + t * (to.y_m - from.y_m), from.z_m + t * (to.z_m - from.z_m)});
    }
  }
  return result;
}

void check_corners(const std::vector<Point2D>& vertices, std::string_view what) {
  if (vertices.size() < 3)
    throw core::InvalidArgument(component, "{}: expected at least three corners, got {}", what,
                                vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Point2D here = vertices[i], next = vertices[(i + 1) % vertices.size()];
    if (!std::isfinite(here.y_m) || !std::isfinite(here.z_m))
      throw core::InvalidArgument(component,
                                  "{}: expected finite corners, got corner {} at y = {} m, z = {} m", what,
                                  i + 1, here.y_m, here.z_m);
    if (here.y_m == next.y_m && here.z_m == next.z_m)
      throw core::InvalidArgument(component,
                                  "{}: corners {} and {} are one point (y = {} m, z = {} m); remove one (the "
                                  "outline closes by itself)",
                                  what, i + 1, (i + 1) % vertices.size() + 1, here.y_m, here.z_m);
  }
}

void check_edges(const std::vector<Point2D>& vertices, std::string_view what) {
  const std::size_t n = vertices.size();
  const auto corner = [&](std::size_t i) { return vertices[i % n]; };
  const auto refuse = [&](std::size_t i, std::size_t j) {
    throw core::InvalidArgument(component,
                                "{}: edges {}–{} and {}–{} cross or touch (near y = {:g} m, z = {:g} m); "
                                "give the corners in order around the region",
                                what, i + 1, (i + 1) % n + 1, j + 1, (j + 1) % n + 1, corner(j).y_m,
                                corner(j).z_m);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Point2D a = corner(i), b = corner(i + 1), c = corner(i + 2);
    if (turn(a, b, c) == 0.0 && (b.y_m - a.y_m) * (c.y_m - b.y_m) + (b.z_m - a.z_m) * (c.z_m - b.z_m) < 0.0)
      refuse(i, (i + 1) % n);  // the outline turns back on itself
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;  // neighbours share their corner
      if (segments_meet({a, b}, {corner(j), corner(j + 1)})) refuse(i, j);
    }
  }
}

}  // namespace

bool segments_meet(const std::array<Point2D, 2>& first, const std::array<Point2D, 2>& second) {
  const auto [a, b] = first;
  const auto [c, d] = second;
  const double c_side = turn(a, b, c), d_side = turn(a, b, d), a_side = turn(c, d, a), b_side = turn(c, d, b);
  if (opposite(c_side, d_side) && opposite(a_side, b_side)) return true;
  return (c_side == 0.0 && between(a, b, c)) || (d_side == 0.0 && between(a, b, d)) ||
         (a_side == 0.0 && between(c, d, a)) || (b_side == 0.0 && between(c, d, b));
}

Polygon2D::Polygon2D(std::vector<Point2D> vertices, std::string_view what) : vertices_(std::move(vertices)) {
  check_corners(vertices_, what);
  check_edges(vertices_, what);
  if (twice_area(vertices_) == 0.0)
    throw core::InvalidArgument(component, "{}: all corners lie on one line", what);
}

bool Polygon2D::contains(Point2D point) const {
  bool inside = false;
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    Point2D a = vertices_[i], b = vertices_[(i + 1) % vertices_.size()];
    if ((a.z_m > point.z_m) == (b.z_m > point.z_m)) continue;
    if (a.z_m > b.z_m) std::swap(a, b);  // the same arithmetic for either polygon that has this edge
    if (turn(a, b, point) > 0.0) inside = !inside;  // the ray towards larger y crosses the edge
  }
  return inside;
}

double Polygon2D::signed_area_m2() const { return 0.5 * twice_area(vertices_); }

Rectangle2D Polygon2D::bounding_box() const {
  const auto [y_min, y_max] = std::ranges::minmax(vertices_, {}, &Point2D::y_m);
  const auto [z_min, z_max] = std::ranges::minmax(vertices_, {}, &Point2D::z_m);
  return {y_min.y_m, y_max.y_m, z_min.z_m, z_max.z_m};
}

double Polygon2D::clip_area_fraction(const Rectangle2D& r) const {
  if (!(r.y_min_m < r.y_max_m && r.z_min_m < r.z_max_m))
    throw core::InvalidArgument(component, "expected a rectangle with an area, got y {} … {} m, z {} … {} m",
                                r.y_min_m, r.y_max_m, r.z_min_m, r.z_max_m);
  std::vector<Point2D> part = clipped(vertices_, [&](Point2D p) { return p.y_m - r.y_min_m; });
  part = clipped(part, [&](Point2D p) { return r.y_max_m - p.y_m; });
  part = clipped(part, [&](Point2D p) { return p.z_m - r.z_min_m; });
  part = clipped(part, [&](Point2D p) { return r.z_max_m - p.z_m; });
  const double area = (r.y_max_m - r.y_min_m) * (r.z_max_m - r.z_min_m);
  return std::clamp(0.5 * std::abs(twice_area(part)) / area, 0.0, 1.0);
}

}  // namespace lodestone::physics::mesh
