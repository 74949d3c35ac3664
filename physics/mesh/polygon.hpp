// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace lodestone::physics::mesh {

/// A corner of a polygon or a line in the section, z down.
struct Point2D {
  double y_m = 0.0, z_m = 0.0;
};

/// An axis-aligned rectangle, y_min < y_max and z_min < z_max.
struct Rectangle2D {
  double y_min_m = 0.0, y_max_m = 0.0, z_min_m = 0.0, z_max_m = 0.0;
};

/// A closed polygon in the section; the last corner joins the first. Convex or not, in either sense of
/// rotation.
class Polygon2D {
 public:
  /// errors: InvalidArgument with fewer than three corners, corners that are not finite, two neighbours at
  /// one place, no area, or edges that cross or touch (named by the numbers of their corners, from 1). `what`
  /// opens the message ("fixed region 2"). cost: O(corners²).
  explicit Polygon2D(std::vector<Point2D> vertices, std::string_view what = "polygon");

  [[nodiscard]] const std::vector<Point2D>& vertices() const { return vertices_; }
  /// Whether the point lies inside. A point on the outline belongs to one of two polygons that share that
  /// edge, not to both.
  [[nodiscard]] bool contains(Point2D point) const;
  /// Positive where y turns towards z from corner to corner, in m².
  [[nodiscard]] double signed_area_m2() const;
  [[nodiscard]] Rectangle2D bounding_box() const;
  /// Share of the rectangle's area inside the polygon, 0…1. source: Sutherland & Hodgman 1974 (clipping
  /// against the rectangle's sides).
  [[nodiscard]] double clip_area_fraction(const Rectangle2D& rectangle) const;

 private:
  std::vector<Point2D> vertices_;
};

/// Whether two closed segments have a point in common; touching counts.
[[nodiscard]] bool segments_meet(const std::array<Point2D, 2>& first, const std::array<Point2D, 2>& second);

}  // namespace lodestone::physics::mesh
