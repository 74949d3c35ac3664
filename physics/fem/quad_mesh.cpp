// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/quad_mesh.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::physics::fem {

namespace {

std::vector<double> halved(const std::vector<double>& x) {
  std::vector<double> result;
  result.reserve(2 * x.size());
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    result.push_back(x[i]);
    result.push_back(0.5 * (x[i] + x[i + 1]));
  }
  result.push_back(x.back());
  return result;
}

/// Returns the row below which depths fail to increase on a line, −1 if none; the sea's rows may all have no
/// height.
int first_fault(const std::vector<double>& depths, int n_air, int n_sea) {
  const bool land = n_sea > 0 && depths[n_air + n_sea] == depths[n_air];
  for (int row = 0; row + 1 < static_cast<int>(depths.size()); ++row) {
    const bool flat = land && row >= n_air && row < n_air + n_sea;
    if (flat ? depths[row + 1] != depths[row] : !(depths[row + 1] > depths[row])) return row;
  }
  return -1;
}

}  // namespace

QuadMesh::QuadMesh(std::vector<double> y_m, std::vector<std::vector<double>> z_m, int n_air, int n_sea)
    : y_m_(std::move(y_m)), n_air_(n_air), n_sea_(n_sea) {
  if (y_m_.size() < 2 || z_m.size() != y_m_.size() || z_m.front().size() < 2) {
    throw core::ShapeError(
        "mesh::QuadMesh#too_few_lines",
        "expected at least two lines with at least two nodes each, got {} lines and {} depth columns",
        y_m_.size(), z_m.size());
  }
  n_z_ = static_cast<int>(z_m.front().size()) - 1;
  if (n_air < 0 || n_sea < 0 || n_earth() < 1)
    throw core::InvalidArgument("mesh::QuadMesh#no_earth",
                                "expected a row of earth under the air and the sea, got {} and {} of {} rows",
                                n_air, n_sea, n_z_);
  z_m_.reserve(y_m_.size() * static_cast<std::size_t>(n_z_ + 1));
  for (std::size_t line = 0; line < y_m_.size(); ++line) {
    const auto& depths = z_m[line];
    if (static_cast<int>(depths.size()) != n_z_ + 1) {
      throw core::ShapeError("mesh::QuadMesh#wrong_size", "expected {} depths on line {}, got {}", n_z_ + 1,
                             line, depths.size());
    }
    if (first_fault(depths, n_air, n_sea) >= 0 || (line > 0 && !(y_m_[line] > y_m_[line - 1]))) {
      throw core::InvalidArgument("mesh::QuadMesh#not_increasing",
                                  "lines and depths must increase; they do not at line {} (y = {} m)", line,
                                  y_m_[line]);
    }
    z_m_.insert(z_m_.end(), depths.begin(), depths.end());
  }
}

int QuadMesh::column_of(double y_m) const {
  const auto right = std::upper_bound(y_m_.begin(), y_m_.end(), y_m) - y_m_.begin();
  return static_cast<int>(std::clamp<std::ptrdiff_t>(right - 1, 0, n_y() - 1));
}

QuadMesh QuadMesh::refined() const {
  std::vector<std::vector<double>> coarse(y_m_.size());
  for (int iy = 0; iy <= n_y(); ++iy) {
    coarse[iy] =
        halved(std::vector<double>(z_m_.begin() + node(0, iy), z_m_.begin() + node(0, iy) + n_z_ + 1));
  }
  std::vector<std::vector<double>> depths;
  for (int iy = 0; iy <= n_y(); ++iy) {
    depths.push_back(coarse[iy]);
    if (iy == n_y()) break;
    std::vector<double> middle(coarse[iy].size());
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = 0.5 * (coarse[iy][i] + coarse[iy + 1][i]);
    depths.push_back(std::move(middle));
  }
  return QuadMesh(halved(y_m_), std::move(depths), 2 * n_air_, 2 * n_sea_);
}

}  // namespace lodestone::physics::fem
