// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/shapes.hpp"

#include <string_view>
#include <vector>

namespace lodestone::physics::mesh {

/// A corner of a polygon or a line in the section, z down.
struct Point2D {
  double y_m = 0.0, z_m = 0.0;
  constexpr operator Point() const { return {0.0, y_m, z_m}; }
};

/// An axis-aligned rectangle, y_min < y_max and z_min < z_max.
struct Rectangle2D {
  double y_min_m = 0.0, y_max_m = 0.0, z_min_m = 0.0, z_max_m = 0.0;
  constexpr operator Box() const { return {.y_m = {y_min_m, y_max_m}, .z_m = {z_min_m, z_max_m}}; }
};

/// A `Polygon` of the section that is given and read in section coordinates.
class Polygon2D {
 public:
  /// errors: as those of `Polygon`.
  explicit Polygon2D(std::vector<Point2D> vertices, std::string_view what = "polygon");

  [[nodiscard]] const std::vector<Point2D>& vertices() const { return vertices_; }
  /// Returns true for points inside, as `Polygon::contains`.
  [[nodiscard]] bool contains(Point2D point) const { return polygon_.contains(point); }
  /// Returns the area, positive where y turns towards z from corner to corner, in m².
  [[nodiscard]] double signed_area_m2() const { return polygon_.signed_area_m2(); }
  [[nodiscard]] Rectangle2D bounding_box() const;
  /// Returns the share of the rectangle's area inside the polygon, 0…1. errors: InvalidArgument.
  [[nodiscard]] double clip_area_fraction(const Rectangle2D& rectangle) const {
    return polygon_.clip_area_fraction(rectangle);
  }
  operator const Polygon&() const { return polygon_; }

 private:
  std::vector<Point2D> vertices_;
  Polygon polygon_;
};

}  // namespace lodestone::physics::mesh
