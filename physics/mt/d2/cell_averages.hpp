// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/fem/quad_mesh.hpp"
#include "physics/mesh/earth.hpp"

#include <Eigen/Core>

#include <vector>

namespace lodestone::physics::mt::d2 {

/// Averages of a parameter grid over the earth cells of a forward mesh, and their derivatives.
///
/// A cell sees the grid through the overlap of its y range and its (mean) depth range. Currents along strike
/// see the mean conductivity. A horizontal current in the section passes the layers of a column in parallel
/// and the columns in series; for a vertical current it is the reverse. So thin layers and narrow columns
/// need not be meshed. Earth cell (row, column) has index column·n_rows + row, rows counted from the surface
/// of the solid earth.
class CellAverages {
 public:
  CellAverages(const mesh::Earth& earth, const fem::QuadMesh& mesh);

  [[nodiscard]] int n_cells() const { return n_rows_ * static_cast<int>(y_overlaps_.size()); }
  [[nodiscard]] int n_rows() const { return n_rows_; }

  /// Returns σ along strike. shape (n_cells, 1).
  [[nodiscard]] Eigen::MatrixXd strike_conductivity(const Eigen::VectorXd& resistivity) const;
  /// Returns ρ_yy, ρ_zz. shape (n_cells, 2).
  [[nodiscard]] Eigen::MatrixXd section_resistivity(const Eigen::VectorXd& resistivity) const;

  /// Adds Jᵀ products of the two averages: Σ_c Σ_p weights(c, p)·∂property(c, p)/∂ρ_j to row j of `out`, for
  /// k columns at once. shapes: weights[p] (k, n_cells), out (k, n_parameters); one column of `out` per
  /// parameter.
  void add_strike_transposed(const Eigen::VectorXd& resistivity, const std::vector<Eigen::MatrixXd>& weights,
                             Eigen::MatrixXd& out) const;
  void add_section_transposed(const Eigen::VectorXd& resistivity, const std::vector<Eigen::MatrixXd>& weights,
                              Eigen::MatrixXd& out) const;
  /// Returns J products: changes of the properties for k changes of resistivity. shapes: directions
  /// (n_parameters, k) → per property (n_cells, k).
  [[nodiscard]] std::vector<Eigen::MatrixXd> strike_change(const Eigen::VectorXd& resistivity,
                                                           const Eigen::MatrixXd& directions) const;
  [[nodiscard]] std::vector<Eigen::MatrixXd> section_change(const Eigen::VectorXd& resistivity,
                                                            const Eigen::MatrixXd& directions) const;

 private:
  struct Overlap {
    int index;
    double fraction;
  };
  /// Calls visit(cell, parameter, ∂σ/∂ρ).
  template <class Visit>
  void visit_strike(const Eigen::VectorXd& resistivity, Visit visit) const;
  /// Calls visit(cell, parameter, ∂ρ_yy/∂ρ, ∂ρ_zz/∂ρ).
  template <class Visit>
  void visit_section(const Eigen::VectorXd& resistivity, Visit visit) const;
  static std::vector<Overlap> overlaps(const std::vector<double>& edges, double low, double high);

  int n_rows_ = 0, n_grid_y_ = 0;
  std::vector<std::vector<Overlap>> y_overlaps_;  ///< per mesh column
  std::vector<std::vector<Overlap>> z_overlaps_;  ///< per earth cell
};

}  // namespace lodestone::physics::mt::d2
