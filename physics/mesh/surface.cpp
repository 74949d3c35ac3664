// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/surface.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mesh {

Surface2D::Surface2D(double z_m) : y_m_{0.0}, z_m_{z_m} {}

Surface2D::Surface2D(std::vector<double> y_m, std::vector<double> z_m)
    : y_m_(std::move(y_m)), z_m_(std::move(z_m)) {
  if (y_m_.empty() || y_m_.size() != z_m_.size()) {
    throw core::ShapeError("mesh::Surface2D",
                           "expected as many y as z values and at least one, got {} and {}", y_m_.size(),
                           z_m_.size());
  }
  for (std::size_t i = 0; i < y_m_.size(); ++i) {
    if (!std::isfinite(y_m_[i]) || !std::isfinite(z_m_[i]) || (i > 0 && !(y_m_[i] > y_m_[i - 1]))) {
      throw core::InvalidArgument("mesh::Surface2D",
                                  "expected finite points with increasing y, got point {} at y = {} m, z = "
                                  "{} m; sort the surface line",
                                  i, y_m_[i], z_m_[i]);
    }
  }
}

double Surface2D::z_at(double y_m) const {
  if (y_m <= y_m_.front()) return z_m_.front();
  if (y_m >= y_m_.back()) return z_m_.back();
  const auto right = std::upper_bound(y_m_.begin(), y_m_.end(), y_m) - y_m_.begin();
  const auto left = right - 1;
  const double t = (y_m - y_m_[left]) / (y_m_[right] - y_m_[left]);
  return (1.0 - t) * z_m_[left] + t * z_m_[right];
}

double Surface2D::slope_at(double y_m) const {
  if (y_m < y_m_.front() || y_m >= y_m_.back()) return 0.0;
  const auto right = std::upper_bound(y_m_.begin(), y_m_.end(), y_m) - y_m_.begin();
  return (z_m_[right] - z_m_[right - 1]) / (y_m_[right] - y_m_[right - 1]);
}

bool Surface2D::is_flat() const {
  return std::all_of(z_m_.begin(), z_m_.end(), [this](double z) { return z == z_m_.front(); });
}

}  // namespace lodestone::physics::mesh
