// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/mean_surface.hpp"

#include "engine/core/error.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

constexpr double lines_per_distance = 1.5;  // least distance of lines over that of points
constexpr std::size_t most_rings = 2;       // of neighbours whose points count at a crossing with few

/// Returns the index of the nearest of increasing lines.
std::size_t nearest(const std::vector<double>& lines, double at) {
  const auto right = std::lower_bound(lines.begin() + 1, lines.end() - 1, at);
  return static_cast<std::size_t>(right - lines.begin()) - (at - *(right - 1) < *right - at ? 1 : 0);
}

/// Returns the lines with half a cell on both sides.
Interval reach_of(const std::vector<double>& lines) {
  const std::size_t n = lines.size();
  return {lines[0] - 0.5 * (lines[1] - lines[0]), lines[n - 1] + 0.5 * (lines[n - 1] - lines[n - 2])};
}

/// Returns the distance between the middles beside a line.
double width_at(const std::vector<double>& lines, std::size_t i) {
  const std::size_t left = i == 0 ? 0 : i - 1, right = std::min(i + 1, lines.size() - 1);
  return (lines[right] - lines[left]) / static_cast<double>(right - left);
}

/// Leaves out lines closer together than a distance. The first and the last one stay.
std::vector<double> apart(const std::vector<double>& lines, double least_m) {
  std::vector<double> kept{lines.front()};
  for (const double line : lines) {
    if (line - kept.back() >= least_m) kept.push_back(line);
  }
  if (kept.back() == lines.back()) return kept;
  if (kept.size() > 1) kept.pop_back();
  kept.push_back(lines.back());
  return kept;
}

/// Fills crossings without a depth from their neighbours, outwards from those with one.
void continue_level(Eigen::MatrixXd& z_m) {
  while (z_m.array().isNaN().any()) {
    const Eigen::MatrixXd before = z_m;
    for (Eigen::Index i = 0; i < z_m.rows(); ++i) {
      for (Eigen::Index j = 0; j < z_m.cols(); ++j) {
        if (!std::isnan(before(i, j))) continue;
        double sum = 0.0;
        int n = 0;
        for (const auto& [k, l] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}}) {
          if (k < 0 || l < 0 || k >= z_m.rows() || l >= z_m.cols() || std::isnan(before(k, l))) continue;
          sum += before(k, l);
          ++n;
        }
        if (n > 0) z_m(i, j) = sum / n;
      }
    }
  }
}

/// Returns the depth at the origin of the least-squares plane. Empty where points are fewer than four, stand
/// along a line or all aside. `width`: the extent of the area they are of, which is the unit of both axes.
std::optional<double> plane_depth(const Eigen::Matrix3d& products, const Eigen::Vector3d& with_z,
                                  const Eigen::Vector2d& width) {
  constexpr double least_points = 4.0, least_spread = 0.01, farthest = 0.5;
  const double n = products(0, 0);
  if (n < least_points) return {};
  const Eigen::Vector2d mean = products.block<2, 1>(1, 0).cwiseQuotient(width) / n;
  const Eigen::Matrix2d unit = (width * width.transpose()).cwiseInverse();
  const Eigen::Matrix2d spread =
      (products.block<2, 2>(1, 1) / n).cwiseProduct(unit) - mean * mean.transpose();
  const double middle = 0.5 * spread.trace(),
               least = middle - std::hypot(0.5 * (spread(0, 0) - spread(1, 1)), spread(0, 1));
  if (least < least_spread || mean.cwiseAbs().maxCoeff() > farthest) return {};
  const double mean_z = with_z[0] / n;
  const Eigen::Vector2d together = with_z.tail<2>().cwiseQuotient(width) / n - mean * mean_z;
  return mean_z - spread.ldlt().solve(together).dot(mean);
}

}  // namespace

bool MeanMap::covers(double x_m, double y_m) const {
  if (!surface.is_map()) return false;
  const std::vector<double>&x = surface.x_m(), &y = surface.y_m();
  return reach_of(x).contains(x_m) && reach_of(y).contains(y_m) &&
         n_points(static_cast<Eigen::Index>(nearest(x, x_m)), static_cast<Eigen::Index>(nearest(y, y_m))) > 0;
}

void MeanSurface::Sums::add(const Sums& other, double off_x_m, double off_y_m) {
  if (other.n() == 0.0) return;
  Eigen::Matrix3d shift = Eigen::Matrix3d::Identity();
  shift(1, 0) = off_x_m;
  shift(2, 0) = off_y_m;
  least_m = n() > 0.0 ? std::min(least_m, other.least_m) : other.least_m;
  most_m = n() > 0.0 ? std::max(most_m, other.most_m) : other.most_m;
  products += shift * other.products * shift.transpose();
  with_z += shift * other.with_z;
}

MeanSurface::Sums MeanSurface::Lines::around(std::size_t i, std::size_t j, std::size_t n_lines) const {
  Sums sum;
  const auto first = [&](std::size_t at) { return at - std::min(at, n_lines); };
  for (std::size_t k = first(i); k < std::min(i + n_lines + 1, x_m.size()); ++k) {
    for (std::size_t l = first(j); l < std::min(j + n_lines + 1, y_m.size()); ++l)
      sum.add(at(k, l), x_m[k] - x_m[i], y_m[l] - y_m[j]);
  }
  return sum;
}

double MeanSurface::Lines::depth_m(std::size_t i, std::size_t j) const {
  const Eigen::Vector2d width(width_at(x_m, i), width_at(y_m, j));
  for (std::size_t rings = 0; rings <= most_rings; ++rings) {
    const Sums sums = around(i, j, rings);
    const double n_widths = 2.0 * static_cast<double>(rings) + 1.0;
    const std::optional<double> depth = plane_depth(sums.products, sums.with_z, n_widths * width);
    if (depth) return std::clamp(*depth, sums.least_m, sums.most_m);
  }
  return at(i, j).n() > 0.0 ? at(i, j).with_z[0] / at(i, j).n() : std::nan("");
}

MeanSurface::MeanSurface(const TensorGrid& grid) {
  if (!grid.has(Axis::x) || !grid.has(Axis::y))
    throw core::InvalidArgument("mesh::MeanSurface#no_plan",
                                "expected cells of a volume, with the axes x and y, got {} axes",
                                grid.dimension());
  lines_ = {grid.edges().x_m, grid.edges().y_m, {}};
  lines_.sums.resize(lines_.x_m.size() * lines_.y_m.size());
}

void MeanSurface::add(const Point& point) {
  if (!reach_of(lines_.x_m).contains(point.x_m) || !reach_of(lines_.y_m).contains(point.y_m)) return;
  for (const Axis axis : {Axis::x, Axis::y}) {
    Interval& extent = extent_of_points_[axis];
    extent = n_points_ == 0 ? Interval{point[axis], point[axis]}
                            : Interval{std::min(extent.from, point[axis]), std::max(extent.to, point[axis])};
  }
  ++n_points_;
  const std::size_t i = nearest(lines_.x_m, point.x_m), j = nearest(lines_.y_m, point.y_m);
  const Eigen::Vector3d terms(1.0, point.x_m - lines_.x_m[i], point.y_m - lines_.y_m[j]);
  Sums& sums = lines_.sums[i * lines_.y_m.size() + j];
  sums.least_m = sums.n() > 0.0 ? std::min(sums.least_m, point.z_m) : point.z_m;
  sums.most_m = sums.n() > 0.0 ? std::max(sums.most_m, point.z_m) : point.z_m;
  sums.products += terms * terms.transpose();
  sums.with_z += terms * point.z_m;
}

MeanSurface::Lines MeanSurface::thinned() const {
  const double area_m2 = extent_of_points_.x_m.length() * extent_of_points_.y_m.length(),
               distance_m = std::sqrt(area_m2 / static_cast<double>(n_points_)),
               least_m = lines_per_distance * distance_m;
  Lines out{apart(lines_.x_m, least_m), apart(lines_.y_m, least_m), {}};
  out.sums.resize(out.x_m.size() * out.y_m.size());
  for (std::size_t i = 0; i < lines_.x_m.size(); ++i) {
    const std::size_t k = nearest(out.x_m, lines_.x_m[i]);
    for (std::size_t j = 0; j < lines_.y_m.size(); ++j) {
      const std::size_t l = nearest(out.y_m, lines_.y_m[j]);
      out.sums[k * out.y_m.size() + l].add(lines_.at(i, j), lines_.x_m[i] - out.x_m[k],
                                           lines_.y_m[j] - out.y_m[l]);
    }
  }
  return out;
}

MeanMap MeanSurface::map() const {
  if (n_points_ == 0)
    throw core::InvalidArgument("mesh::MeanSurface#no_point",
                                "expected points above the cells, found none; give a map of their place");
  Lines lines = thinned();
  const auto n_x = static_cast<Eigen::Index>(lines.x_m.size()),
             n_y = static_cast<Eigen::Index>(lines.y_m.size());
  Eigen::MatrixXi n(n_x, n_y);
  Eigen::MatrixXd z_m = Eigen::MatrixXd::Constant(n_x, n_y, std::nan(""));
  for (std::size_t i = 0; i < lines.x_m.size(); ++i) {
    for (std::size_t j = 0; j < lines.y_m.size(); ++j) {
      const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(j);
      n(row, column) = static_cast<int>(std::min(lines.at(i, j).n(), 1e9));
      z_m(row, column) = lines.depth_m(i, j);
    }
  }
  continue_level(z_m);
  return {Surface(std::move(lines.x_m), std::move(lines.y_m), std::move(z_m)), std::move(n)};
}

}  // namespace lodestone::physics::mesh
