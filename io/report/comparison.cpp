// SPDX-License-Identifier: Apache-2.0
#include "io/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lodestone::io::report {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::Model;
using physics::mesh::TensorGrid;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_from_datum(const Model& model) { return model.earth.grid.reference() == DepthReference::datum; }

/// Returns the z of the surface in the coordinates of the grid.
double top_m(const Model& model, double y_m) {
  return is_from_datum(model) ? model.earth.surface.z_at(0.0, y_m) : 0.0;
}

/// Returns the value at a point, z as in the grid of the model; NaN above its surface or outside.
double value_at(const Model& model, const Eigen::VectorXd& values, double y_m, double z_m) {
  const TensorGrid& grid = model.earth.grid;
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  const double top = is_from_datum(model) ? top_m(model, y_m) : z.front();  // the top row reaches up to it
  if (y_m < y.front() || y_m > y.back() || z_m < top || z_m > z.back()) return none;
  return values[grid.index(grid.row_of(z_m), grid.column_of(y_m))];
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

Correlation correlation(const Model& reference, const Model& model) {
  std::vector<double> a, b;
  const TensorGrid& grid = reference.earth.grid;
  const bool by_depth = grid.reference() != model.earth.grid.reference();
  const Eigen::VectorXd of_reference = log10_resistivity(reference), of_model = log10_resistivity(model);
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const double y_m = grid.y_centre_m(iy), z_m = grid.z_centre_m(iz);
      const double here = value_at(reference, of_reference, y_m, z_m);
      const double shift_m = by_depth ? top_m(model, y_m) - top_m(reference, y_m) : 0.0;
      const double other = value_at(model, of_model, y_m, z_m + shift_m);
      if (!std::isfinite(here) || !std::isfinite(other)) continue;
      a.push_back(here);
      b.push_back(other);
    }
  }
  return {pearson(a, b), static_cast<int>(a.size())};
}

double mean_log10(const Model& model, const physics::mesh::Box& box) {
  const TensorGrid& grid = model.earth.grid;
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  const Eigen::VectorXd values = log10_resistivity(model);
  double sum = 0.0, area = 0.0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    const auto kz = static_cast<std::size_t>(iz);
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const auto ky = static_cast<std::size_t>(iy);
      const double surface = top_m(model, grid.y_centre_m(iy));
      const double top = is_from_datum(model) && (iz == 0 || z[kz] < surface) ? surface : z[kz];
      const double inside = shared(y[ky], y[ky + 1], box.y_m.from, box.y_m.to) *
                            shared(top - surface, z[kz + 1] - surface, box.z_m.from, box.z_m.to);
      const double value = values[grid.index(iz, iy)];
      if (inside <= 0.0 || !std::isfinite(value)) continue;
      sum += inside * value;
      area += inside;
    }
  }
  return area > 0.0 ? sum / area : none;
}

}  // namespace lodestone::io::report
