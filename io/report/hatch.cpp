// SPDX-License-Identifier: Apache-2.0
#include "io/report/hatch.hpp"

#include "io/report/axes.hpp"
#include "physics/mesh/earth.hpp"

#include <algorithm>
#include <vector>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double spacing = 9.0, step = 1.5;  // of the lines of a hatch, and along them
const Stroke hatch{{0.13, 0.13, 0.13, 0.55}, 0.6, {}}, outline{{0.13, 0.13, 0.13, 1.0}, 1.3, {}};

bool unseen(const Eigen::VectorXd& investigated, Eigen::Index cell) { return investigated[cell] < 0.5; }

/// Returns the number of the interval that holds a value, −1 outside.
int interval_of(const std::vector<double>& edges, double value) {
  if (value < edges.front() || value >= edges.back()) return -1;
  return static_cast<int>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin()) - 1;
}

bool unseen_at(const SectionPlace& place, const mesh::Earth& earth, const Eigen::VectorXd& investigated,
               Point point) {
  const auto& [box, at, y_first, y_last, depth_first, depth_last] = place;
  const double y_m = y_first + (point.x - box.x) / box.width * (y_last - y_first);
  const double z_m = depth_first + (point.y - box.y) / box.height * (depth_last - depth_first);
  const double surface = earth.surface.z_at(0.0, y_m);
  const auto& z_edges = earth.grid.z_edges_m();
  if (z_m < surface) return false;
  const double depth_m = earth.grid.reference() == mesh::DepthReference::surface
                             ? z_m - surface
                             : std::max(z_m, z_edges.front());
  const int iy = interval_of(earth.grid.y_edges_m(), y_m), iz = interval_of(z_edges, depth_m);
  return iy >= 0 && iz >= 0 && unseen(investigated, earth.grid.index(iz, iy));
}

/// Draws lines down to the right, broken where cells are seen.
void draw_hatch(Canvas& canvas, const SectionPlace& place, const mesh::Earth& earth,
                const Eigen::VectorXd& investigated) {
  const Box& box = place.box;
  for (double first = box.x - box.height; first < box.x + box.width; first += spacing) {
    const double begin = std::max(0.0, box.x - first), end = std::min(box.height, box.x + box.width - first);
    double since = -1.0;
    for (double t = begin; t < end + step; t += step) {
      const double along = std::min(t, end);
      const bool is_unseen =
          along < end && unseen_at(place, earth, investigated, {first + along, box.y + along});
      if (is_unseen && since < 0.0) since = along;
      if (is_unseen || since < 0.0) continue;
      canvas.line({first + since, box.y + since}, {first + along, box.y + along}, hatch);
      since = -1.0;
    }
  }
}

void draw_outline(Canvas& canvas, const SectionPlace& place, const mesh::Earth& earth,
                  const Eigen::VectorXd& investigated) {
  const mesh::TensorGrid& grid = earth.grid;
  const auto corner = [&](int iz, int iy) {
    const double y_m = grid.y_edges_m()[static_cast<std::size_t>(iy)];
    const double z_m = grid.z_edges_m()[static_cast<std::size_t>(iz)];
    return place.at(y_m, mesh::true_z_m(earth, {0.0, y_m, z_m}));
  };
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const bool here = unseen(investigated, grid.index(iz, iy));
      if (iz + 1 < grid.n_z() && here != unseen(investigated, grid.index(iz + 1, iy)))
        canvas.line(corner(iz + 1, iy), corner(iz + 1, iy + 1), outline);
      if (iy + 1 < grid.n_y() && here != unseen(investigated, grid.index(iz, iy + 1)))
        canvas.line(corner(iz, iy + 1), corner(iz + 1, iy + 1), outline);
    }
  }
}

}  // namespace

void draw_unseen(Canvas& canvas, const SectionPlace& place, const mesh::Earth& earth,
                 const Eigen::VectorXd& investigated) {
  draw_hatch(canvas, place, earth, investigated);
  draw_outline(canvas, place, earth, investigated);
}

}  // namespace lodestone::io::report
