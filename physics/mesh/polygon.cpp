// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/polygon.hpp"

#include <utility>

namespace lodestone::physics::mesh {

Polygon2D::Polygon2D(std::vector<Point2D> vertices, std::string_view what)
    : vertices_(std::move(vertices)), polygon_({vertices_.begin(), vertices_.end()}, Plane::section, what) {}

Rectangle2D Polygon2D::bounding_box() const {
  const Box box = polygon_.bounding_box();
  return {box.y_m.from, box.y_m.to, box.z_m.from, box.z_m.to};
}

}  // namespace lodestone::physics::mesh
