// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: how finely a mesh must resolve each part of a section.
#pragma once

#include "physics/mt/d2/features.hpp"

#include <optional>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// The resolution that a place requires, by its distance from the nearest station.
struct Requirement {
  double r;        ///< distance in m
  double coarser;  ///< factor by which the distance coarsens the cells

  /// Returns true if the place affects a station enough to be resolved.
  [[nodiscard]] bool is_relevant() const { return coarser < 100.0; }
};

/// The attenuation down the columns of a section and the distances of its stations, for one band. They state
/// how finely a mesh must resolve each part. Keeps references.
class SectionResolution {
 public:
  SectionResolution(const mesh::Model& model, const Survey& survey, const BandRange& band);

  [[nodiscard]] const mesh::TensorGrid& grid() const { return earth_.grid; }
  [[nodiscard]] const mesh::SurfaceLine& surface() const { return surface_; }
  [[nodiscard]] const std::optional<mesh::Sea>& sea() const { return earth_.sea; }
  [[nodiscard]] const std::vector<double>& stations() const { return stations_; }  ///< y in m, ascending
  [[nodiscard]] bool is_draped() const { return draped_; }
  [[nodiscard]] bool perfect_conductor_below() const { return perfect_conductor_below_; }
  [[nodiscard]] int n_rows() const { return n_rows_; }  ///< above the perfect conductor
  [[nodiscard]] double rho(int iz, int iy) const { return resistivity_[grid().index(iz, iy)]; }

  /// Returns the depth of a row's top under a surface at `surface_m`; 0 above it.
  [[nodiscard]] double depth_under(double surface_m, int iz) const;
  /// Returns the depth of a row's top under the surface over the middle of a column.
  [[nodiscard]] double depth_of_edge(int iz, int iy) const { return depth_under(floor_[iy], iz); }
  /// Returns the height of a surface at `surface_m` above the lowest point of all.
  [[nodiscard]] double height_at(double surface_m) const { return lowest_ - surface_m; }
  [[nodiscard]] double height_of_column(int iy) const { return height_at(floor_[iy]); }
  /// Returns the row of cells under the surface.
  [[nodiscard]] int top_row(double y) const { return draped_ ? 0 : grid().row_of(surface_.z_at(y)); }
  [[nodiscard]] bool is_under_water(double y) const { return sea() && surface_.z_at(y) > sea()->level_m; }

  /// Returns δ at the band's highest frequency; the functions below use it too unless they state another.
  [[nodiscard]] double skin_depth_m(double resistivity) const;
  [[nodiscard]] double penetration_m(int iy) const { return penetration_[iy]; }  ///< depth at which ∫dz/δ = 1
  /// Returns the largest penetration under the stations at the band's lowest frequency.
  [[nodiscard]] double deepest_penetration_m() const;
  /// Returns the last row (`RowLevels`), `skin_depths` down under the stations at the lowest frequency; the
  /// top of a perfect conductor where there is one.
  [[nodiscard]] double bottom_m(double skin_depths) const;
  /// Returns the shortest length that affects a station, even at the survey's highest frequency.
  [[nodiscard]] double shortest_m() const { return shortest_m_; }

  /// Returns distance and coarsening of a place from y_low to y_high at the top of a row of a column, or at
  /// another depth there.
  [[nodiscard]] Requirement requirement(double y_low, double y_high, int row, int column) const;
  [[nodiscard]] Requirement requirement(double y_low, double y_high, int row, int column, double depth) const;
  [[nodiscard]] Requirement requirement_at_surface(double y) const {
    return requirement(y, y, 0, grid().column_of(y));
  }

 private:
  void measure_columns();
  [[nodiscard]] std::vector<double> attenuation_of(int iy) const;
  [[nodiscard]] double attenuation(int column, int row) const;
  [[nodiscard]] double depth_reaching(double amount, int iy, double frequency) const;
  [[nodiscard]] double reach_of(int iy) const;

  const mesh::Earth& earth_;
  const mesh::SurfaceLine& surface_;
  Eigen::VectorXd resistivity_;
  BandRange band_;
  bool draped_, perfect_conductor_below_;
  int n_rows_;
  double lowest_;  ///< z of the lowest point of the surface
  double shortest_m_ = 0.0;
  std::vector<double> stations_;
  std::vector<double> floor_;                     ///< per column: z of the surface over its middle
  std::vector<double> penetration_;               ///< per column
  std::vector<double> reach_;                     ///< per column: distance at which fields adjust, in m
  std::vector<std::vector<double>> attenuation_;  ///< per column and row: ∫dz/δ down to its top
};

}  // namespace lodestone::physics::mt::d2
