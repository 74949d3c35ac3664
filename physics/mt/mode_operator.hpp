// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/linalg/symmetric_solver.hpp"
#include "physics/mt/mesh_design.hpp"

#include <Eigen/Core>

#include <array>
#include <complex>
#include <vector>

namespace lodestone::physics::mt {

using Complex = std::complex<double>;

/// The finite-element problem of one mode on one mesh, for any frequency and any cell properties.
///
/// TE solves −∇²E + iωμσE = 0 on earth, sea and air with unit H_y at the top; TM solves −∇·(ρ∇H) + iωμH = 0 in earth and sea with H = 1 on their surface.
/// Sides are natural (locally one-dimensional), the bottom carries the impedance of the half-space below or is a perfect conductor.
/// Properties of the earth cells (order of CellAverages): TE σ; TM ρ_yy (horizontal current), ρ_zz.
class ModeOperator {
 public:
  ModeOperator(Mode mode, const BandMesh& band);

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] int n_properties() const { return mode_ == Mode::te ? 1 : 2; }
  [[nodiscard]] int n_unknowns() const { return n_free_; }
  /// Unknowns on each mesh line; they are numbered line by line. Every line has as many: where nodes coincide (the sea's rows on land) or are fixed, unknowns
  /// that no node has stay behind, each alone with a 1 on the diagonal.
  [[nodiscard]] int line_size() const { return n_free_ / (n_columns_ + 1); }
  [[nodiscard]] int n_nodes() const { return static_cast<int>(free_.size()); }
  [[nodiscard]] int n_cells() const { return n_rows_ * n_columns_; }
  [[nodiscard]] const linalg::SparsityPattern& pattern() const { return pattern_; }
  /// Index of a mesh node among the unknowns, −1 where its value is fixed or it is not part of the problem. Nodes at one place share one.
  [[nodiscard]] int unknown_of(int node) const { return free_[node]; }

  /// Matrix values in pattern order. shapes: properties (n_cells, n_properties).
  [[nodiscard]] std::vector<Complex> matrix(double omega, const Eigen::MatrixXd& properties) const;
  /// Right-hand side (n_unknowns).
  [[nodiscard]] Eigen::VectorXcd right_hand_side(double omega, const Eigen::MatrixXd& properties) const;
  /// Unknowns with the fixed values put back: one value per mesh node.
  [[nodiscard]] Eigen::VectorXcd field(const Eigen::VectorXcd& unknowns) const;
  /// Unknowns placed on their nodes, zero elsewhere. shapes: (n_unknowns, k) → (n_nodes, k).
  [[nodiscard]] Eigen::MatrixXcd on_nodes(const Eigen::MatrixXcd& unknowns) const;

  using ElementVector = std::array<Complex, 4>;
  using ElementMatrix = std::array<ElementVector, 4>;
  /// Nodes of an earth cell: top left, top right, bottom left, bottom right.
  [[nodiscard]] const std::array<int, 4>& cell_nodes(int cell) const { return cells_[cell].nodes; }
  /// Element matrix of an earth cell without the bottom condition.
  [[nodiscard]] ElementMatrix element(int cell, double omega, const Eigen::MatrixXd& properties) const;
  /// (∂A_element/∂property) u; `with_bottom` adds the bottom condition's part.
  [[nodiscard]] ElementVector element_derivative(int cell, int property, double omega, const Eigen::MatrixXd& properties,
                                                 const Eigen::VectorXcd& field, bool with_bottom) const;

 private:
  struct Cell {
    std::array<int, 4> nodes;
    std::array<double, 10> stiffness_y, stiffness_z, mass;  ///< upper triangles
  };
  struct Assembled;
  static Cell make_cell(const mesh::QuadMesh2D& mesh, int row, int column);
  void number_unknowns(const mesh::QuadMesh2D& mesh);
  void build_pattern();
  /// Of a cell of air or sea.
  [[nodiscard]] ElementMatrix known_element(const Cell& cell, double omega, double conductivity) const;
  [[nodiscard]] bool is_bottom(int cell) const { return !perfect_conductor_ && cell % n_rows_ == n_rows_ - 1; }
  [[nodiscard]] double bottom_width(int cell) const { return width_[cell / n_rows_]; }
  [[nodiscard]] Complex bottom_coefficient(double omega, double property) const;
  /// Calls add(row, column node, value) for every entry of every element whose row is an unknown.
  template <class Add>
  void for_each_entry(double omega, const Eigen::MatrixXd& properties, Add add) const;
  template <class Visit>
  void for_each_known_cell(Visit visit) const;

  Mode mode_;
  bool perfect_conductor_;
  double sea_conductivity_;
  int n_rows_, n_columns_, n_free_ = 0;
  std::vector<Cell> cells_, air_cells_, sea_cells_;
  std::vector<int> unused_;  ///< unknowns that no node has
  std::vector<double> width_;
  std::vector<int> free_;
  std::vector<int> top_nodes_;
  linalg::SparsityPattern pattern_;
};

}  // namespace lodestone::physics::mt
