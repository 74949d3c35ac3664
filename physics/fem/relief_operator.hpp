// SPDX-License-Identifier: Apache-2.0
// First-order edge elements on hexahedra in vertical columns. The quadrature points are the eight corners of
// a cell, so that on level cells K and M are those of `edge_operator.hpp`. On others K = Cᵀ F C with F and M
// not diagonal: what meets at a corner of a cell is coupled.
#pragma once

#include "physics/fem/edge_operator.hpp"
#include "physics/fem/relief_grid.hpp"

#include <memory>

namespace lodestone::physics::fem {

/// A real matrix by rows.
using RealRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
/// Computes A v for a real matrix and complex numbers; threads share the rows.
[[nodiscard]] Eigen::VectorXcd product(const RealRows& matrix, const Eigen::VectorXcd& values);

/// Returns the circulations around all faces. shapes: (n_edges) → (n_faces).
[[nodiscard]] Eigen::VectorXcd curl(const EdgeGrid& grid, const Eigen::VectorXcd& circulation);
/// Returns Cᵀ of numbers on faces. shapes: (n_faces) → (n_edges).
[[nodiscard]] Eigen::VectorXcd curl_transposed(const EdgeGrid& grid, const Eigen::VectorXcd& faces);

/// The diagonals of F and M on a relief: what a smoother of level grids takes for them.
struct ReliefDiagonals {
  Eigen::VectorXd faces;   ///< (n_faces), 1/m
  Eigen::VectorXd masses;  ///< (n_edges), m times the unit of the numbers per cell
};
/// shapes: numbers per cell (n_cells).
[[nodiscard]] ReliefDiagonals diagonals(const ReliefGrid& grid, const Eigen::VectorXd& cells);

/// The matrices of a relief grid. F is kept, nine numbers a row; K is applied as Cᵀ F C and never formed.
class ReliefOperator {
 public:
  explicit ReliefOperator(ReliefGrid grid);
  [[nodiscard]] const ReliefGrid& grid() const { return grid_; }
  [[nodiscard]] const RealRows& faces() const { return faces_; }
  /// Returns K u on every edge, boundary included. shapes: (n_edges) → (n_edges).
  [[nodiscard]] Eigen::VectorXcd curl_curl(const Eigen::VectorXcd& circulation) const;
  /// Returns M for a number per cell, five entries in rows of horizontal edges and nine in others.
  [[nodiscard]] RealRows mass_matrix(const Eigen::VectorXd& cells) const;
  /// Returns uᵀ M_c v of every cell c, M_c its mass for the number 1. shapes: (n_edges) → (n_cells).
  [[nodiscard]] Eigen::VectorXcd cell_products(const Eigen::VectorXcd& u, const Eigen::VectorXcd& v) const;

 private:
  ReliefGrid grid_;
  RealRows faces_;
};

/// Assembles K + i M for u = e + Gφ on some unknowns, as the function for level grids does. shapes: F
/// (n_faces, n_faces), M (n_edges, n_edges).
[[nodiscard]] ComplexRows pair_matrix(const EdgeGrid& grid, const RealRows& faces, const RealRows& masses,
                                      const PairUnknowns& unknowns);

}  // namespace lodestone::physics::fem
