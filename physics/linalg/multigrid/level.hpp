// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the operator of one grid in one precision, and its smoother.
#pragma once

#include "physics/linalg/multigrid/field.hpp"

#include <array>

namespace lodestone::physics::linalg::multigrid {

/// Numbers along x, by parity of their place: inverse widths of edges, dual lengths of nodes, 1 where there
/// is an unknown.
template <class T>
struct RowLines {
  std::array<Padded<T>, 2> inverse_width, dual, edge_mask, node_mask;
  explicit RowLines(const fem::EdgeGrid& grid);
};

/// The operator A of one grid: lines, and ωμ₀ times the masses of edges in rows of even and odd places.
template <class T>
class Level {
 public:
  /// shapes: mass (n_edges).
  Level(const fem::EdgeGrid& grid, const Eigen::VectorXd& mass);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const RowLines<T>& x() const { return x_; }
  /// Inverse widths along y and z, and dual lengths of their lines.
  [[nodiscard]] T inverse_hy(int j) const { return inverse_[0][j]; }
  [[nodiscard]] T inverse_hz(int k) const { return inverse_[1][k]; }
  [[nodiscard]] T dual_y(int j) const { return dual_[0][j]; }
  [[nodiscard]] T dual_z(int k) const { return dual_[1][k]; }
  /// Returns the masses of the edges along axis c of a row, those of one parity.
  [[nodiscard]] const T* mass(int c, int k, int j, int parity) const {
    return mass_.data() +
           (((static_cast<std::ptrdiff_t>(j) * (layout_.nz + 1) + k) * 3 + c) * 2 + parity) * layout_.half;
  }
  [[nodiscard]] std::size_t bytes() const { return mass_.bytes(); }

 private:
  Layout layout_;
  RowLines<T> x_;
  std::array<std::vector<T>, 2> inverse_, dual_;
  Padded<T> mass_;
};

/// Computes r = b − A x of the slab j; without b it is −A x. Where there is no unknown, r is not touched.
void residual_of_slab(const Level<float>& level, const float* b, const float* x, float* r, int j);
void residual_of_slab(const Level<double>& level, const double* b, const double* x, double* r, int j);

/// Computes r = b − A x, slabs shared by the threads.
template <class T>
void residual(const Level<T>& level, const Field<T>* b, const Field<T>& x, Field<T>& r);

}  // namespace lodestone::physics::linalg::multigrid
