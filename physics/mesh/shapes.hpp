// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

namespace lodestone::physics::mesh {

/// The axes of a grid: x north or along strike, y east or along the profile, z down.
enum class Axis { x, y, z };
inline constexpr std::array<Axis, 3> all_axes{Axis::x, Axis::y, Axis::z};
[[nodiscard]] constexpr std::string_view name(Axis axis) {
  return axis == Axis::x ? "x" : axis == Axis::y ? "y" : "z";
}

/// A place in metres; a coordinate along an axis that a grid lacks has no effect.
struct Point {
  double x_m = 0.0, y_m = 0.0, z_m = 0.0;
  [[nodiscard]] constexpr double operator[](Axis axis) const {
    return axis == Axis::x ? x_m : axis == Axis::y ? y_m : z_m;
  }
  constexpr double& operator[](Axis axis) { return axis == Axis::x ? x_m : axis == Axis::y ? y_m : z_m; }
  friend bool operator==(const Point&, const Point&) = default;
};

/// A closed range of one coordinate; without bounds unless given.
struct Interval {
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  [[nodiscard]] constexpr bool contains(double value) const { return from <= value && value <= to; }
  [[nodiscard]] constexpr double length() const { return to - from; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A block with sides along the axes, `{.y_m = {120e3, 480e3}}`: an axis that is not named has no bounds.
struct Box {
  Interval x_m{}, y_m{}, z_m{};
  [[nodiscard]] constexpr const Interval& operator[](Axis axis) const {
    return axis == Axis::x ? x_m : axis == Axis::y ? y_m : z_m;
  }
  constexpr Interval& operator[](Axis axis) { return axis == Axis::x ? x_m : axis == Axis::y ? y_m : z_m; }
  /// Returns true for points on its sides, too.
  [[nodiscard]] constexpr bool contains(const Point& point) const {
    return x_m.contains(point.x_m) && y_m.contains(point.y_m) && z_m.contains(point.z_m);
  }
  friend bool operator==(const Box&, const Box&) = default;
};

/// The two coordinates that an outline has; along the third it reaches without end.
enum class Plane {
  section,  ///< (y, z)
  plan,     ///< (x, y)
};

/// A place in a plane: (y, z) of a section, (x, y) of a plan.
struct Flat {
  double u_m = 0.0, v_m = 0.0;
  friend bool operator==(const Flat&, const Flat&) = default;
};
[[nodiscard]] constexpr Flat flat(const Point& point, Plane plane) {
  return plane == Plane::section ? Flat{point.y_m, point.z_m} : Flat{point.x_m, point.y_m};
}

/// Returns the point at a place of a plane; its third coordinate is 0.
[[nodiscard]] constexpr Point point(Flat place, Plane plane = Plane::section) {
  return plane == Plane::section ? Point{0.0, place.u_m, place.v_m} : Point{place.u_m, place.v_m, 0.0};
}
[[nodiscard]] std::vector<Point> points(const std::vector<Flat>& places, Plane plane = Plane::section);

/// A closed polygon in a plane; the last corner joins the first. It is convex or not, in either sense of
/// rotation.
class Polygon {
 public:
  /// Makes a polygon and checks it. errors: InvalidArgument with fewer than three corners, corners that are
  /// not finite, two neighbours at one place, or no area; also for edges that cross or touch, named by the
  /// numbers of their corners, from 1. `what` opens the message ("fixed region 2"). cost: O(corners²).
  explicit Polygon(std::vector<Point> corners, Plane plane = Plane::section,
                   std::string_view what = "polygon");

  [[nodiscard]] const std::vector<Point>& corners() const { return corners_; }
  [[nodiscard]] Plane plane() const { return plane_; }
  /// Returns true for points inside. A point on the outline belongs to one of two polygons that share that
  /// edge, not to both.
  [[nodiscard]] bool contains(const Point& point) const;
  /// Returns the area in m², positive where the first coordinate turns towards the second from corner to
  /// corner.
  [[nodiscard]] double signed_area_m2() const;
  /// Returns the smallest box around it, without bounds along the third axis.
  [[nodiscard]] Box bounding_box() const;
  /// Returns the share of a box's area in the plane that lies inside the polygon, 0…1. errors:
  /// InvalidArgument when the box has no area. source: Sutherland & Hodgman 1974 (clipping against the box's
  /// sides).
  [[nodiscard]] double clip_area_fraction(const Box& box) const;

  /// The part within a range of the first coordinate.
  struct Strip {
    Interval u;
    std::vector<Flat> outline;
  };
  [[nodiscard]] Strip strip(const Interval& u) const;
  /// Returns the share of a box whose range along the first coordinate is that of the strip, with the bits of
  /// the function above. Boxes above each other cost the corners of their strip only. errors: likewise.
  [[nodiscard]] double clip_area_fraction(const Strip& strip, const Box& box) const;
  /// Returns the range of a box along the first coordinate of the plane.
  [[nodiscard]] Interval first_range(const Box& box) const;

 private:
  std::vector<Point> corners_;
  std::vector<Flat> outline_;
  Plane plane_;
};

/// A part of the earth: a block, or a prism without end whose outline is drawn in the section or in plan.
using Shape = std::variant<Box, Polygon>;
[[nodiscard]] bool contains(const Shape& shape, const Point& point);

/// Returns true when two closed segments of one plane have a point in common; touching counts.
[[nodiscard]] bool segments_meet(const std::array<Flat, 2>& first, const std::array<Flat, 2>& second);

/// Returns twice the signed area of the triangle a, b, c; 0 where the three lie on a line.
[[nodiscard]] constexpr double turn(Flat a, Flat b, Flat c) {
  return (b.u_m - a.u_m) * (c.v_m - a.v_m) - (b.v_m - a.v_m) * (c.u_m - a.u_m);
}

}  // namespace lodestone::physics::mesh
