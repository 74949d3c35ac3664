// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"

#include <Eigen/Core>

#include <optional>
#include <vector>

namespace lodestone::physics::mesh {

/// What the z edges of a grid are measured from.
enum class DepthReference {
  datum,    ///< z = 0 of the frame; cells above the surface are not used, the top row continues upwards to it
  surface,  ///< the local surface: the grid is draped on the topography
};

/// The parameter grid of a section: columns in y, rows in depth. Cell (row iz, column iy) has index iz·n_y +
/// iy, rows from the top.
///
/// Outermost columns continue sideways and the bottom row downwards without end, so that the whole earth has
/// a value.
class TensorGrid2D {
 public:
  /// errors: InvalidArgument when there are fewer than two edges or edges do not increase strictly.
  TensorGrid2D(std::vector<double> y_edges_m, std::vector<double> z_edges_m,
               DepthReference reference = DepthReference::surface);

  [[nodiscard]] int n_y() const { return static_cast<int>(y_edges_m_.size()) - 1; }
  [[nodiscard]] int n_z() const { return static_cast<int>(z_edges_m_.size()) - 1; }
  [[nodiscard]] Eigen::Index n_cells() const { return static_cast<Eigen::Index>(n_y()) * n_z(); }
  [[nodiscard]] Eigen::Index index(int iz, int iy) const {
    return static_cast<Eigen::Index>(iz) * n_y() + iy;
  }
  [[nodiscard]] const std::vector<double>& y_edges_m() const { return y_edges_m_; }
  [[nodiscard]] const std::vector<double>& z_edges_m() const { return z_edges_m_; }
  [[nodiscard]] DepthReference reference() const { return reference_; }
  [[nodiscard]] double y_centre_m(int iy) const { return 0.5 * (y_edges_m_[iy] + y_edges_m_[iy + 1]); }
  [[nodiscard]] double z_centre_m(int iz) const { return 0.5 * (z_edges_m_[iz] + z_edges_m_[iz + 1]); }
  /// Column / row that holds a coordinate, clamped to the outermost ones.
  [[nodiscard]] int column_of(double y_m) const;
  [[nodiscard]] int row_of(double z_m) const;

 private:
  std::vector<double> y_edges_m_, z_edges_m_;
  DepthReference reference_;
};

/// Sea water: it fills whatever lies below its level and above the surface of the solid earth. Its
/// resistivity is known, not an unknown.
struct Sea {
  double level_m = 0.0;  ///< z of its surface
  double resistivity_ohm_m = 0.3;
};

/// A resistivity section: what model files hold and what a 2-D simulation sees.
struct Section2D {
  TensorGrid2D grid;
  Eigen::VectorXd resistivity_ohm_m;  ///< (n_cells), order of TensorGrid2D
  Surface2D surface;                  ///< of the solid earth: the ground on land, the floor of the sea
  std::optional<Sea> sea{};           ///< none: land only
};

/// A grid from cell widths: `first` then each times `factor`, n cells, starting at z = 0.
[[nodiscard]] std::vector<double> geometric_edges_m(double first_m, double factor, int n);

}  // namespace lodestone::physics::mesh
