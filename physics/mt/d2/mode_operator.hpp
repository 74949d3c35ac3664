// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/fem/quad_element.hpp"
#include "physics/linalg/symmetric_solver.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <Eigen/Core>

#include <complex>
#include <span>
#include <vector>

namespace lodestone::physics::mt::d2 {

using Complex = std::complex<double>;

/// The finite-element problem of one mode on one mesh, for any frequency and any cell properties. Private to
/// physics/mt.
///
/// TE solves −∇²E + iωμσE = 0 on earth, sea and air with unit H_y at the top; TM solves −∇·(ρ∇H) + iωμH = 0
/// in earth and sea with H = 1 on their surface. Sides are natural (locally one-dimensional), the bottom
/// carries the impedance of the half-space below or is a perfect conductor. Properties of the earth cells
/// (order of CellAverages): TE σ; TM ρ_yy (horizontal current), ρ_zz.
///
/// Nodes are those of the lattice: the mesh itself for order 1, its refinement for order 2.
class ModeOperator {
 public:
  ModeOperator(Mode mode, const BandMesh& band);

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] const fem::QuadElement& shape() const { return shape_; }
  [[nodiscard]] int n_properties() const { return mode_ == Mode::te ? 1 : 2; }
  [[nodiscard]] int n_unknowns() const { return n_free_; }
  /// Returns the number of unknowns on each lattice line; they are numbered line by line. Every line has as
  /// many. Where nodes coincide (the sea's rows on land) or are fixed, unknowns without a node remain, each
  /// alone with a 1 on the diagonal.
  [[nodiscard]] int line_size() const { return n_free_ / (shape_.order() * n_columns_ + 1); }
  [[nodiscard]] int n_nodes() const { return static_cast<int>(free_.size()); }
  [[nodiscard]] int n_cells() const { return n_rows_ * n_columns_; }
  [[nodiscard]] const linalg::SparsityPattern& pattern() const { return pattern_; }
  /// Returns the index of a lattice node among the unknowns, −1 where its value is fixed or it is not part of
  /// the problem. Nodes at one place share one.
  [[nodiscard]] int unknown_of(int node) const { return free_[node]; }

  /// Returns the matrix values in pattern order. shapes: properties (n_cells, n_properties).
  [[nodiscard]] std::vector<Complex> matrix(double omega, const Eigen::MatrixXd& properties) const;
  /// Returns the right-hand side (n_unknowns).
  [[nodiscard]] Eigen::VectorXcd right_hand_side(double omega, const Eigen::MatrixXd& properties) const;
  /// Returns the unknowns with the fixed values put back: one value per lattice node.
  [[nodiscard]] Eigen::VectorXcd field(const Eigen::VectorXcd& unknowns) const;

  using ElementVector = Eigen::Matrix<Complex, Eigen::Dynamic, 1, Eigen::ColMajor, 9, 1>;
  using ElementMatrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 9, 9>;
  /// Returns the nodes of an earth cell, row by row from the top left.
  [[nodiscard]] std::span<const int> cell_nodes(int cell) const {
    return earth_.nodes_of(cell, shape_.n_nodes());
  }
  /// Returns the element matrix of an earth cell without the bottom condition.
  [[nodiscard]] ElementMatrix element(int cell, double omega, const Eigen::MatrixXd& properties) const;
  /// Returns (∂A_element/∂property) u; `with_bottom` adds the bottom condition's part.
  [[nodiscard]] ElementVector element_derivative(int cell, int property, double omega,
                                                 const Eigen::MatrixXd& properties,
                                                 const Eigen::VectorXcd& field, bool with_bottom) const;

 private:
  /// Nodes, integrals and places in the matrix of a set of cells.
  struct Cells {
    std::vector<int> nodes, places;  ///< per cell n_nodes; n_nodes² (−1: not in the matrix)
    std::vector<double> integrals;   ///< per cell 3·n_pairs
    [[nodiscard]] int size(int n_nodes) const { return static_cast<int>(nodes.size()) / n_nodes; }
    [[nodiscard]] std::span<const int> nodes_of(int cell, int n_nodes) const {
      return {nodes.data() + static_cast<std::size_t>(cell) * n_nodes, static_cast<std::size_t>(n_nodes)};
    }
  };
  void add_cell(Cells& cells, const fem::QuadMesh& mesh, const fem::QuadMesh& lattice, int row,
                int column) const;
  void number_unknowns(const fem::QuadMesh& lattice);
  void build_pattern();
  void find_places(Cells& cells) const;
  /// Returns factor_y K_y + factor_z K_z + mass M.
  [[nodiscard]] ElementMatrix combine(const Cells& cells, int cell, double factor_y, double factor_z,
                                      Complex mass) const;
  /// Returns the matrix of a cell of air or sea.
  [[nodiscard]] ElementMatrix known_element(const Cells& cells, int cell, double omega,
                                            double conductivity) const;
  [[nodiscard]] bool is_bottom(int cell) const {
    return !perfect_conductor_ && cell % n_rows_ == n_rows_ - 1;
  }
  [[nodiscard]] double width_of(int cell) const { return width_[cell / n_rows_]; }
  [[nodiscard]] Complex bottom_coefficient(double omega, double property) const;
  /// Returns the first local node of a cell's bottom edge.
  [[nodiscard]] int bottom_node() const { return shape_.order() * (shape_.order() + 1); }

  Mode mode_;
  fem::QuadElement shape_;
  bool perfect_conductor_;
  double sea_conductivity_;
  int n_rows_, n_columns_, n_free_ = 0;
  Cells earth_, air_, sea_;
  std::vector<double> width_;
  std::vector<int> free_, unused_;  ///< unused_: unknowns that no node has
  std::vector<int> top_nodes_;
  linalg::SparsityPattern pattern_;
};

}  // namespace lodestone::physics::mt::d2
