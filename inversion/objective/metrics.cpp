// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/metrics.hpp"

#include "engine/core/error.hpp"
#include "physics/mesh/cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion::objective {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Interval;
using physics::mesh::Model;
using physics::mesh::Point;
using physics::mesh::TensorGrid;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double similarity_of_window(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b, double c1,
                            double c2) {
  const double mean_a = a.mean(), mean_b = b.mean();
  const Eigen::ArrayXXd da = a.array() - mean_a, db = b.array() - mean_b;
  const double variance_a = da.square().mean(), variance_b = db.square().mean(),
               covariance = (da * db).mean();
  return (2.0 * mean_a * mean_b + c1) * (2.0 * covariance + c2) /
         ((mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2));
}

void check(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b, const SimilarityOptions& options) {
  if (options.window_cells < 2 || !(options.range_decades > 0.0) || !(options.k1 > 0.0) ||
      !(options.k2 > 0.0))
    throw core::InvalidArgument(
        "inversion::section_metrics#wrong_options",
        "expected windows of 2 cells or more, a positive range, k1 and k2, got {}, {}, {} and {}",
        options.window_cells, options.range_decades, options.k1, options.k2);
  if (a.rows() != b.rows() || a.cols() != b.cols() || std::min(a.rows(), a.cols()) < options.window_cells)
    throw core::ShapeError("inversion::section_metrics#wrong_sections",
                           "expected two sections of the same size with room for a window of {} × {} cells, "
                           "got {} × {} and {} × {}",
                           options.window_cells, options.window_cells, a.rows(), a.cols(), b.rows(),
                           b.cols());
}

bool is_from_datum(const Model& model) { return model.earth.grid.reference() == DepthReference::datum; }

/// Returns the z of the surface above a point in the coordinates of the grid.
double top_m(const Model& model, const Point& at) {
  return is_from_datum(model) ? model.earth.surface.z_at(at.x_m, at.y_m) : 0.0;
}

/// Returns the value at a point, z as in the grid of the model; NaN above its surface or outside.
double value_at(const Model& model, const Eigen::VectorXd& values, const Point& at) {
  const TensorGrid& grid = model.earth.grid;
  physics::mesh::Box inside = grid.extent();
  if (is_from_datum(model)) inside.z_m.from = top_m(model, at);  // the top row reaches up to it
  return inside.contains(at) ? values[grid.nearest(at)] : none;
}

/// Returns the length of two ranges' common part.
double shared(const Interval& a, const Interval& b) {
  return std::max(0.0, std::min(a.to, b.to) - std::max(a.from, b.from));
}

/// Returns the length of a cell inside a range along a horizontal axis; 1 on a missing one.
double shared_along(const TensorGrid& grid, Axis axis, int i, const Interval& range) {
  if (!grid.has(axis)) return 1.0;
  const auto k = static_cast<std::size_t>(i);
  return shared({grid.edges_m(axis)[k], grid.edges_m(axis)[k + 1]}, range);
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

double relative_error(const core::ConstVectorRef& model, const core::ConstVectorRef& truth,
                      const std::vector<Eigen::Index>& cells) {
  if (model.size() != truth.size())
    throw core::ShapeError("inversion::section_metrics#wrong_size",
                           "expected a model with the {} cells of the truth, got {}", truth.size(),
                           model.size());
  if (cells.empty())
    throw core::InvalidArgument("inversion::section_metrics#no_cell", "expected at least one of the {} cells",
                                truth.size());
  for (const Eigen::Index cell : cells) {
    if (cell < 0 || cell >= truth.size())
      throw core::InvalidArgument("inversion::section_metrics#cell_outside",
                                  "expected cells from 0 to {}, got {}", truth.size() - 1, cell);
  }
  const double length = truth(cells).norm();
  if (!(length > 0.0))
    throw core::InvalidArgument(
        "inversion::section_metrics#zero_truth",
        "the truth is 0 (1 ohm m) in all cells, so that no relative error exists; select other cells");
  return (model(cells) - truth(cells)).norm() / length;
}

double structural_similarity(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b,
                             const SimilarityOptions& options) {
  check(a, b, options);
  const Eigen::Index n = options.window_cells;
  const double c1 = std::pow(options.k1 * options.range_decades, 2),
               c2 = std::pow(options.k2 * options.range_decades, 2);
  double sum = 0.0;
  for (Eigen::Index j = 0; j + n <= a.cols(); ++j) {
    for (Eigen::Index i = 0; i + n <= a.rows(); ++i)
      sum += similarity_of_window(a.block(i, j, n, n), b.block(i, j, n, n), c1, c2);
  }
  return sum / static_cast<double>((a.rows() - n + 1) * (a.cols() - n + 1));
}

Correlation correlation(const Model& reference, const Model& model) {
  std::vector<double> a, b;
  const bool by_depth = reference.earth.grid.reference() != model.earth.grid.reference();
  const Eigen::VectorXd of_reference = log10_resistivity(reference), of_model = log10_resistivity(model);
  for (const Point& centre : physics::mesh::cells(reference.earth).centre) {
    const double here = value_at(reference, of_reference, centre);
    Point there = centre;
    if (by_depth) there.z_m += top_m(model, centre) - top_m(reference, centre);
    const double other = value_at(model, of_model, there);
    if (!std::isfinite(here) || !std::isfinite(other)) continue;
    a.push_back(here);
    b.push_back(other);
  }
  return {pearson(a, b), static_cast<int>(a.size())};
}

double mean_log10(const Model& model, const physics::mesh::Box& box) {
  const TensorGrid& grid = model.earth.grid;
  const auto& z = grid.z_edges_m();
  const Eigen::VectorXd values = log10_resistivity(model);
  double sum = 0.0, volume = 0.0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    const auto kz = static_cast<std::size_t>(iz);
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        const double surface = top_m(model, {grid.centre_m(Axis::x, ix), grid.y_centre_m(iy), 0.0});
        const double top = is_from_datum(model) && (iz == 0 || z[kz] < surface) ? surface : z[kz];
        const double inside = shared_along(grid, Axis::x, ix, box.x_m) *
                              shared_along(grid, Axis::y, iy, box.y_m) *
                              shared({top - surface, z[kz + 1] - surface}, box.z_m);
        const double value = values[grid.index(iz, iy, ix)];
        if (inside <= 0.0 || !std::isfinite(value)) continue;
        sum += inside * value;
        volume += inside;
      }
    }
  }
  return volume > 0.0 ? sum / volume : none;
}

}  // namespace lodestone::inversion::objective
