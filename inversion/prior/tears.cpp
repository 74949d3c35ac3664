// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/tears.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::inversion::prior {

using physics::mesh::Point2D;
using physics::mesh::Rectangle2D;

namespace {

/// Between which shares of its length a segment lies inside, if anywhere. source: Liang & Barsky 1984.
std::optional<std::pair<double, double>> inside(Point2D a, Point2D b, const Rectangle2D& r) {
  double first = 0.0, last = 1.0;
  for (const auto& [at_a, at_b] :
       {std::pair{a.y_m - r.y_min_m, b.y_m - r.y_min_m}, std::pair{r.y_max_m - a.y_m, r.y_max_m - b.y_m},
        std::pair{a.z_m - r.z_min_m, b.z_m - r.z_min_m}, std::pair{r.z_max_m - a.z_m, r.z_max_m - b.z_m}}) {
    if (at_a < 0.0 && at_b < 0.0) return std::nullopt;
    if (at_a < 0.0) first = std::max(first, at_a / (at_a - at_b));
    if (at_b < 0.0) last = std::min(last, at_a / (at_a - at_b));
  }
  if (first > last) return std::nullopt;
  return std::pair{first, last};
}

}  // namespace

void check(const Tear& tear) {
  constexpr const char* component = "inversion::Tear";
  if (tear.points.size() < 2)
    throw core::InvalidArgument(component, "expected at least two points, got {}", tear.points.size());
  for (const Point2D& point : tear.points) {
    if (!std::isfinite(point.y_m) || !std::isfinite(point.z_m))
      throw core::InvalidArgument(component, "expected finite points, got y = {} m, z = {} m", point.y_m,
                                  point.z_m);
  }
  if (!(tear.weight >= 0.0 && tear.weight <= 1.0))
    throw core::InvalidArgument(component, "expected a weight from 0 to 1, got {}", tear.weight);
}

double weight_across(const std::vector<Tear>& tears, Point2D a, Point2D b) {
  double weight = 1.0;
  for (const Tear& tear : tears) {
    for (std::size_t i = 0; i + 1 < tear.points.size(); ++i) {
      if (physics::mesh::segments_meet({a, b}, {tear.points[i], tear.points[i + 1]}))
        weight = std::min(weight, tear.weight);
    }
  }
  return weight;
}

std::vector<OutsidePiece> pieces_outside(const Tear& tear, const Rectangle2D& rectangle) {
  std::vector<OutsidePiece> pieces;
  double reached = -1.0;  // where the last piece ends: number of the segment and share of its length
  for (std::size_t i = 0; i + 1 < tear.points.size(); ++i) {
    const Point2D a = tear.points[i], b = tear.points[i + 1];
    const auto add = [&](double from, double to) {
      if (!(from < to)) return;
      const auto at = [&](double t) {
        return Point2D{(1.0 - t) * a.y_m + t * b.y_m, (1.0 - t) * a.z_m + t * b.z_m};
      };
      if (static_cast<double>(i) + from != reached) pieces.push_back({at(from), at(to), 0.0});
      pieces.back().to = at(to);
      pieces.back().length_m += (to - from) * std::hypot(b.y_m - a.y_m, b.z_m - a.z_m);
      reached = static_cast<double>(i) + to;
    };
    const auto [first, last] = inside(a, b, rectangle).value_or(std::pair{1.0, 1.0});
    add(0.0, first);
    add(last, 1.0);
  }
  return pieces;
}

Eigen::Index n_faces_crossed(const physics::mesh::TensorGrid2D& grid, const Tear& tear) {
  const std::vector<Tear> alone{{tear.points, 0.0}};
  const auto centre = [&](int iz, int iy) { return Point2D{grid.y_centre_m(iy), grid.z_centre_m(iz)}; };
  Eigen::Index n = 0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      if (iy + 1 < grid.n_y() && weight_across(alone, centre(iz, iy), centre(iz, iy + 1)) == 0.0) ++n;
      if (iz + 1 < grid.n_z() && weight_across(alone, centre(iz, iy), centre(iz + 1, iy)) == 0.0) ++n;
    }
  }
  return n;
}

}  // namespace lodestone::inversion::prior
