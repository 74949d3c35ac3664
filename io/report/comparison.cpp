// SPDX-License-Identifier: Apache-2.0
#include "io/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lodestone::io::report {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::Section2D;
using physics::mesh::TensorGrid;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_from_datum(const Section2D& section) { return section.grid.reference() == DepthReference::datum; }

/// Returns the z of the surface in the coordinates of the section's grid.
double top_m(const Section2D& section, double y_m) {
  return is_from_datum(section) ? section.surface.z_at(y_m) : 0.0;
}

/// Returns log10 resistivity at a point, z as in the grid of the section; NaN above its surface or outside.
double log10_at(const Section2D& section, double y_m, double z_m) {
  const TensorGrid& grid = section.grid;
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  const double top =
      is_from_datum(section) ? top_m(section, y_m) : z.front();  // the top row reaches up to it
  if (y_m < y.front() || y_m > y.back() || z_m < top || z_m > z.back()) return none;
  return std::log10(section.resistivity_ohm_m[grid.index(grid.row_of(z_m), grid.column_of(y_m))]);
}

/// Length of [a, b] inside [from, to].
double shared(double a, double b, double from, double to) {
  return std::max(0.0, std::min(b, to) - std::max(a, from));
}

double pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<Eigen::Index>(a.size());
  if (n < 2) return none;
  const Eigen::Map<const Eigen::ArrayXd> x(a.data(), n), y(b.data(), n);
  const Eigen::ArrayXd dx = x - x.mean(), dy = y - y.mean();
  const double scale = std::sqrt(dx.square().sum() * dy.square().sum());
  return scale > 0.0 ? (dx * dy).sum() / scale : none;
}

}  // namespace

Correlation correlation(const Section2D& reference, const Section2D& section) {
  std::vector<double> a, b;
  const bool by_depth = reference.grid.reference() != section.grid.reference();
  for (int iz = 0; iz < reference.grid.n_z(); ++iz) {
    for (int iy = 0; iy < reference.grid.n_y(); ++iy) {
      const double y_m = reference.grid.y_centre_m(iy), z_m = reference.grid.z_centre_m(iz);
      const double of_reference = log10_at(reference, y_m, z_m);
      const double shift_m = by_depth ? top_m(section, y_m) - top_m(reference, y_m) : 0.0;
      const double other = log10_at(section, y_m, z_m + shift_m);
      if (!std::isfinite(of_reference) || !std::isfinite(other)) continue;
      a.push_back(of_reference);
      b.push_back(other);
    }
  }
  return {pearson(a, b), static_cast<int>(a.size())};
}

double mean_log10(const Section2D& section, const SectionBlock& block) {
  const auto &y = section.grid.y_edges_m(), &z = section.grid.z_edges_m();
  double sum = 0.0, area = 0.0;
  for (int iz = 0; iz < section.grid.n_z(); ++iz) {
    const auto kz = static_cast<std::size_t>(iz);
    for (int iy = 0; iy < section.grid.n_y(); ++iy) {
      const auto ky = static_cast<std::size_t>(iy);
      const double surface = top_m(section, section.grid.y_centre_m(iy));
      const double top = is_from_datum(section) && (iz == 0 || z[kz] < surface) ? surface : z[kz];
      const double inside = shared(y[ky], y[ky + 1], block.y_from_m, block.y_to_m) *
                            shared(top - surface, z[kz + 1] - surface, block.z_from_m, block.z_to_m);
      const double value = std::log10(section.resistivity_ohm_m[section.grid.index(iz, iy)]);
      if (inside <= 0.0 || !std::isfinite(value)) continue;
      sum += inside * value;
      area += inside;
    }
  }
  return area > 0.0 ? sum / area : none;
}

}  // namespace lodestone::io::report
