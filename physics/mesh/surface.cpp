// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/surface.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

void check_increasing(const std::vector<double>& points, char axis) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i]) || (i > 0 && !(points[i] > points[i - 1])))
      throw core::InvalidArgument(
          "mesh::Surface#not_increasing",
          "expected finite, increasing {}, got point {} at {} = {} m; sort the points", axis, i, axis,
          points[i]);
  }
}

/// A place between two points: the left one and the share of the way to the next, clamped to the ends.
struct Share {
  Eigen::Index left;
  double t;
};
Share share_at(const std::vector<double>& points, double at) {
  const double inside = std::clamp(at, points.front(), points.back());
  const auto right = std::upper_bound(points.begin() + 1, points.end() - 1, inside);
  return {right - points.begin() - 1, (inside - *(right - 1)) / (*right - *(right - 1))};
}

}  // namespace

SurfaceLine::SurfaceLine(double z_m) : y_m_{0.0}, z_m_{z_m} {}

SurfaceLine::SurfaceLine(std::vector<double> y_m, std::vector<double> z_m)
    : y_m_(std::move(y_m)), z_m_(std::move(z_m)) {
  if (y_m_.empty() || y_m_.size() != z_m_.size()) {
    throw core::ShapeError("mesh::SurfaceLine#wrong_size",
                           "expected as many y as z values and at least one, got {} and {}", y_m_.size(),
                           z_m_.size());
  }
  for (std::size_t i = 0; i < y_m_.size(); ++i) {
    if (!std::isfinite(y_m_[i]) || !std::isfinite(z_m_[i]) || (i > 0 && !(y_m_[i] > y_m_[i - 1]))) {
      throw core::InvalidArgument("mesh::SurfaceLine#not_increasing",
                                  "expected finite points with increasing y, got point {} at y = {} m, z = "
                                  "{} m; sort the surface line",
                                  i, y_m_[i], z_m_[i]);
    }
  }
}

double SurfaceLine::z_at(double y_m) const {
  if (y_m <= y_m_.front()) return z_m_.front();
  if (y_m >= y_m_.back()) return z_m_.back();
  const auto right = std::upper_bound(y_m_.begin(), y_m_.end(), y_m) - y_m_.begin();
  const auto left = right - 1;
  const double t = (y_m - y_m_[left]) / (y_m_[right] - y_m_[left]);
  return (1.0 - t) * z_m_[left] + t * z_m_[right];
}

double SurfaceLine::slope_at(double y_m) const {
  if (y_m < y_m_.front() || y_m >= y_m_.back()) return 0.0;
  const auto right = std::upper_bound(y_m_.begin(), y_m_.end(), y_m) - y_m_.begin();
  return (z_m_[right] - z_m_[right - 1]) / (y_m_[right] - y_m_[right - 1]);
}

bool SurfaceLine::is_flat() const {
  return std::all_of(z_m_.begin(), z_m_.end(), [this](double z) { return z == z_m_.front(); });
}

Surface::Surface(SurfaceLine profile) : profile_(std::move(profile)) {}

Surface::Surface(std::vector<double> x_m, std::vector<double> y_m, Eigen::MatrixXd z_m)
    : x_m_(std::move(x_m)), y_m_(std::move(y_m)), z_m_(std::move(z_m)) {
  const auto n_x = static_cast<Eigen::Index>(x_m_.size()), n_y = static_cast<Eigen::Index>(y_m_.size());
  if (n_x < 2 || n_y < 2 || z_m_.rows() != n_x || z_m_.cols() != n_y)
    throw core::ShapeError("mesh::Surface#wrong_size",
                           "expected depths of n_x × n_y points, at least 2 × 2, got {} × {} points and {} × "
                           "{} depths; give a line of points as a profile",
                           n_x, n_y, z_m_.rows(), z_m_.cols());
  check_increasing(x_m_, 'x');
  check_increasing(y_m_, 'y');
  if (!z_m_.allFinite())
    throw core::InvalidArgument("mesh::Surface#not_finite", "all depths must be finite; fill the gaps");
}

double Surface::z_at(double x_m, double y_m) const {
  if (!is_map()) return profile_.z_at(y_m);
  const auto [i, s] = share_at(x_m_, x_m);
  const auto [j, t] = share_at(y_m_, y_m);
  return (1.0 - s) * ((1.0 - t) * z_m_(i, j) + t * z_m_(i, j + 1)) +
         s * ((1.0 - t) * z_m_(i + 1, j) + t * z_m_(i + 1, j + 1));
}

const SurfaceLine& Surface::profile() const {
  if (is_map())
    throw core::InvalidArgument("mesh::Surface::profile#is_a_map",
                                "expected a profile z(y), got a map of {} × {} points; invert in three "
                                "dimensions or give the surface along the line",
                                x_m_.size(), y_m_.size());
  return profile_;
}

double Surface::lowest_m() const { return is_map() ? z_m_.maxCoeff() : std::ranges::max(profile_.z_m()); }
double Surface::highest_m() const { return is_map() ? z_m_.minCoeff() : std::ranges::min(profile_.z_m()); }

Eigen::MatrixXd Surface::z_m() const {
  if (is_map()) return z_m_;
  const auto n = static_cast<Eigen::Index>(profile_.z_m().size());
  return Eigen::Map<const Eigen::RowVectorXd>(profile_.z_m().data(), n);
}

}  // namespace lodestone::physics::mesh
