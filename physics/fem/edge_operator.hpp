// SPDX-License-Identifier: Apache-2.0
// Lumped first-order edge elements, which are the staggered differences of Yee 1966 (IEEE Trans. Antennas
// Propag. 14, 302): K = Cᵀ F C, with C the circulation around a face and F its dual length over its area.
#pragma once

#include "physics/fem/edge_grid.hpp"

#include <Eigen/SparseCore>

#include <complex>

namespace lodestone::physics::fem {

/// The four edges around a face with their signs in its circulation, and the entry of F.
struct Face {
  std::array<EdgeGrid::Index, 4> edges;
  std::array<double, 4> signs;
  double factor;  ///< 1/m
};
/// Returns the face normal to an axis whose first corner is node (i, j, k).
[[nodiscard]] Face face_at(const EdgeGrid& grid, int axis, int i, int j, int k);

/// Calls visit(Face) for every face of the grid.
template <class Visit>
void for_each_face(const EdgeGrid& grid, Visit visit) {
  for_each_face_place(grid, [&](int axis, int i, int j, int k) { visit(face_at(grid, axis, i, j, k)); });
}

/// Returns K u on every edge, boundary included. shapes: (n_edges) → (n_edges).
[[nodiscard]] Eigen::VectorXcd curl_curl(const EdgeGrid& grid, const Eigen::VectorXcd& circulation);
/// Returns G φ, the difference of a nodal function along each edge. shapes: (n_nodes) → (n_edges).
[[nodiscard]] Eigen::VectorXcd gradient(const EdgeGrid& grid, const Eigen::VectorXcd& potential);
/// Returns Gᵀ r. shapes: (n_edges) → (n_nodes).
[[nodiscard]] Eigen::VectorXcd gradient_transposed(const EdgeGrid& grid, const Eigen::VectorXcd& residual);
/// Returns |Gᵀ| v, the sum over the edges at each node. shapes: (n_edges) → (n_nodes).
[[nodiscard]] Eigen::VectorXd sum_at_nodes(const EdgeGrid& grid, const Eigen::VectorXd& values);
/// Sets the values of edges, or of nodes, on the boundary to zero.
void clear_boundary_edges(const EdgeGrid& grid, Eigen::Ref<Eigen::VectorXcd> edges);
void clear_boundary_nodes(const EdgeGrid& grid, Eigen::Ref<Eigen::VectorXcd> nodes);

/// Numbers of unknowns: e of edges and φ of nodes. −1: zero. Edges may share an unknown, as those along the
/// strike of a section do.
struct PairUnknowns {
  Eigen::VectorXi edges, nodes;
  int count = 0;
};
/// A complex-symmetric matrix by rows.
using ComplexRows = Eigen::SparseMatrix<std::complex<double>, Eigen::RowMajor>;
/// Assembles K + i M for u = e + Gφ on some unknowns, with the rows of nodes times Gᵀ. K enters the rows of
/// edges alone, so that nothing cancels. shapes: mass (n_edges).
[[nodiscard]] ComplexRows pair_matrix(const EdgeGrid& grid, const Eigen::VectorXd& mass,
                                      const PairUnknowns& unknowns);

}  // namespace lodestone::physics::fem
