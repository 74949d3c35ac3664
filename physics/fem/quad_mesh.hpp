// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace lodestone::physics::fem {

/// A logically rectangular mesh of quadrilaterals with vertical grid lines: columns at `y_m`, nodes (iz, iy)
/// at depth z. From the top: `n_air` rows of air, `n_sea` rows of sea water, rows of earth.
///
/// Node (row iz, line iy) has index iy·(n_z + 1) + iz (lines are the slow index: the matrix band is the
/// shorter side). On land the sea's rows have no height: their nodes lie on the surface, all at one place.
/// Beside the coast the cells of the sea are triangles.
class QuadMesh {
 public:
  /// Takes lines and depths. shapes: y (n_y + 1), z[line] (n_z + 1). errors: ShapeError; InvalidArgument when
  /// lines or depths do not increase (within the sea's rows of a line either all depths increase or none
  /// does).
  QuadMesh(std::vector<double> y_m, std::vector<std::vector<double>> z_m, int n_air, int n_sea = 0);

  [[nodiscard]] int n_y() const { return static_cast<int>(y_m_.size()) - 1; }
  [[nodiscard]] int n_z() const { return n_z_; }
  [[nodiscard]] int n_air() const { return n_air_; }  ///< rows of cells above land and sea
  [[nodiscard]] int n_sea() const { return n_sea_; }
  [[nodiscard]] int n_earth() const { return n_z_ - ground(); }
  /// Returns the row of the nodes on the surface of the solid earth.
  [[nodiscard]] int ground() const { return n_air_ + n_sea_; }
  [[nodiscard]] bool is_land(int iy) const { return !(z(ground(), iy) > z(n_air_, iy)); }
  [[nodiscard]] int n_nodes() const { return (n_y() + 1) * (n_z_ + 1); }
  [[nodiscard]] int node(int iz, int iy) const { return iy * (n_z_ + 1) + iz; }
  [[nodiscard]] double y(int iy) const { return y_m_[iy]; }
  [[nodiscard]] double z(int iz, int iy) const { return z_m_[static_cast<std::size_t>(node(iz, iy))]; }
  [[nodiscard]] const std::vector<double>& lines_m() const { return y_m_; }
  /// Returns the column whose interval holds y, clamped.
  [[nodiscard]] int column_of(double y_m) const;
  /// Returns the mesh with every cell cut in four.
  [[nodiscard]] QuadMesh refined() const;

 private:
  std::vector<double> y_m_, z_m_;
  int n_z_ = 0, n_air_ = 0, n_sea_ = 0;
};

}  // namespace lodestone::physics::fem
