// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <array>
#include <vector>

namespace lodestone::physics::fem {

/// The edges, faces and nodes of a flat tensor grid with lines along x, y and z (axes 0, 1, 2). All are
/// counted with their boundary. Fields are circulations: the integral of E along each edge.
///
/// Edges are numbered axis by axis, nodes and cells likewise with i fastest and k slowest. An edge (axis, i,
/// j, k) begins at node (i, j, k).
class EdgeGrid {
 public:
  using Index = Eigen::Index;
  /// Makes the grid of these lines in metres. errors: InvalidArgument unless each axis has two lines or more,
  /// finite and increasing.
  explicit EdgeGrid(std::array<std::vector<double>, 3> lines_m);

  [[nodiscard]] const std::vector<double>& lines_m(int axis) const { return lines_[axis]; }
  [[nodiscard]] const std::vector<double>& widths_m(int axis) const { return widths_[axis]; }
  [[nodiscard]] double width_m(int axis, int i) const { return widths_[axis][i]; }
  /// Returns the distance between the middles of the cells beside a line; half a cell at the ends.
  [[nodiscard]] double dual_m(int axis, int i) const { return duals_[axis][i]; }
  /// Returns the number of cells along an axis.
  [[nodiscard]] int n(int axis) const { return static_cast<int>(widths_[axis].size()); }
  [[nodiscard]] Index n_cells() const { return static_cast<Index>(n(0)) * n(1) * n(2); }
  [[nodiscard]] Index n_nodes() const { return static_cast<Index>(n(0) + 1) * (n(1) + 1) * (n(2) + 1); }
  [[nodiscard]] Index n_edges() const { return first_[3]; }
  /// Returns the number of edges off the boundary, those with an unknown.
  [[nodiscard]] Index n_inner_edges() const;

  [[nodiscard]] Index cell(int i, int j, int k) const {
    return (static_cast<Index>(k) * n(1) + j) * n(0) + i;
  }
  [[nodiscard]] Index node(int i, int j, int k) const {
    return (static_cast<Index>(k) * (n(1) + 1) + j) * (n(0) + 1) + i;
  }
  [[nodiscard]] Index edge(int axis, int i, int j, int k) const {
    const Index n_i = n(0) + (axis == 0 ? 0 : 1), n_j = n(1) + (axis == 1 ? 0 : 1);
    return first_[axis] + (k * n_j + j) * n_i + i;
  }
  /// Returns the number of faces, boundary included.
  [[nodiscard]] Index n_faces() const { return first_face_[3]; }
  /// Returns the face normal to an axis whose first corner is node (i, j, k); numbered as edges are.
  [[nodiscard]] Index face(int axis, int i, int j, int k) const {
    const Index n_i = n(0) + (axis == 0 ? 1 : 0), n_j = n(1) + (axis == 1 ? 1 : 0);
    return first_face_[axis] + (k * n_j + j) * n_i + i;
  }
  /// Returns true for an edge with an unknown: both coordinates across it lie off the boundary.
  [[nodiscard]] bool is_inner_edge(int axis, int i, int j, int k) const {
    return (axis == 0 || is_inner(0, i)) && (axis == 1 || is_inner(1, j)) && (axis == 2 || is_inner(2, k));
  }
  [[nodiscard]] bool is_inner_node(int i, int j, int k) const {
    return is_inner(0, i) && is_inner(1, j) && is_inner(2, k);
  }

 private:
  [[nodiscard]] bool is_inner(int axis, int i) const { return i > 0 && i < n(axis); }
  std::array<std::vector<double>, 3> lines_, widths_, duals_;
  std::array<Index, 4> first_{}, first_face_{};
};

/// Calls visit(axis, i, j, k) for every edge, in the order of their numbers.
template <class Visit>
void for_each_edge(const EdgeGrid& grid, Visit visit) {
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < grid.n(2) + (axis != 2); ++k) {
      for (int j = 0; j < grid.n(1) + (axis != 1); ++j) {
        for (int i = 0; i < grid.n(0) + (axis != 0); ++i) visit(axis, i, j, k);
      }
    }
  }
}

/// Calls visit(axis, i, j, k) for every face, in the order of their numbers.
template <class Visit>
void for_each_face_place(const EdgeGrid& grid, Visit visit) {
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < grid.n(2) + (axis == 2); ++k) {
      for (int j = 0; j < grid.n(1) + (axis == 1); ++j) {
        for (int i = 0; i < grid.n(0) + (axis == 0); ++i) visit(axis, i, j, k);
      }
    }
  }
}

/// Calls visit(i, j, k) for every node, in the order of their numbers.
template <class Visit>
void for_each_node(const EdgeGrid& grid, Visit visit) {
  for (int k = 0; k <= grid.n(2); ++k) {
    for (int j = 0; j <= grid.n(1); ++j) {
      for (int i = 0; i <= grid.n(0); ++i) visit(i, j, k);
    }
  }
}

}  // namespace lodestone::physics::fem
