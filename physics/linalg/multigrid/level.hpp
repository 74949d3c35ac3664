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

/// The operator A of one grid: lines, and ωμ₀ times the masses of edges in rows of even and odd places. F
/// follows from the lines, unless its diagonal is given.
template <class T>
class Level {
 public:
  /// shapes: mass (n_edges), faces (n_faces) or nothing.
  Level(const fem::EdgeGrid& grid, const Eigen::VectorXd& mass, const Eigen::VectorXd& faces = {});

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const RowLines<T>& x() const { return x_; }
  /// Inverse widths along y and z, and dual lengths of their lines.
  [[nodiscard]] T inverse_hy(int j) const { return inverse_[0][j]; }
  [[nodiscard]] T inverse_hz(int k) const { return inverse_[1][k]; }
  [[nodiscard]] T dual_y(int j) const { return dual_[0][j]; }
  [[nodiscard]] T dual_z(int k) const { return dual_[1][k]; }
  /// Returns the masses of the edges along axis c of a row, those of one parity.
  [[nodiscard]] const T* mass(int c, int k, int j, int parity) const {
    return mass_.data() + place(c, k, j, parity);
  }
  /// Returns true where F does not follow from the lines.
  [[nodiscard]] bool has_faces() const { return has_faces_; }
  /// Returns the entries of F at the faces normal to axis c of a row, likewise.
  [[nodiscard]] const T* face(int c, int k, int j, int parity) const {
    return faces_.data() + place(c, k, j, parity);
  }
  [[nodiscard]] std::size_t bytes() const { return mass_.bytes() + (has_faces_ ? faces_.bytes() : 0); }

 private:
  [[nodiscard]] std::ptrdiff_t place(int c, int k, int j, int parity) const {
    return (((static_cast<std::ptrdiff_t>(j) * (layout_.nz + 1) + k) * 3 + c) * 2 + parity) * layout_.half;
  }
  Layout layout_;
  RowLines<T> x_;
  std::array<std::vector<T>, 2> inverse_, dual_;
  Padded<T> mass_, faces_;
  bool has_faces_;
};

/// The lines along y and z at a row of nodes; zero beyond the boundary.
template <class T>
struct RowCoefficients {
  bool inner_y, inner_z;
  T inverse_hy, inverse_hy_before, inverse_hz, inverse_hz_before, dual_y, dual_z;
  RowCoefficients(const Level<T>& level, int k, int j)
      : inner_y(j > 0),
        inner_z(k > 0),
        inverse_hy(level.inverse_hy(j)),
        inverse_hy_before(inner_y ? level.inverse_hy(j - 1) : T(0)),
        inverse_hz(level.inverse_hz(k)),
        inverse_hz_before(inner_z ? level.inverse_hz(k - 1) : T(0)),
        dual_y(inner_y ? level.dual_y(j) : T(0)),
        dual_z(inner_z ? level.dual_z(k) : T(0)) {}
};

/// The entries of F at the faces around a vector of nodes, of level grids and of those with a relief. `up`:
/// in the layer above; `back`: in the line before along y; `before`: in the cell before along x.
template <class T, bool relief>
class FaceEntries {
 public:
  [[gnu::always_inline]] FaceEntries(const Level<T>& level, const RowCoefficients<T>& w, int k, int j,
                                     int parity, std::ptrdiff_t at)
      : level_(level), w_(w), k_(k), j_(j), parity_(parity), at_(at) {
    if constexpr (!relief) {
      h_ = load(level.x().inverse_width[parity].data() + at);
      h_before_ = load(level.x().inverse_width[1 - parity].data() + at - 1 + parity);
      dual_x_ = load(level.x().dual[parity].data() + at);
    }
  }
  [[gnu::always_inline]] Vector<T> x(bool up, bool back) const {
    if constexpr (relief) return load(level_.face(0, k_ - up, j_ - back, parity_) + at_);
    return dual_x_ *
           ((up ? w_.inverse_hz_before : w_.inverse_hz) * (back ? w_.inverse_hy_before : w_.inverse_hy));
  }
  [[gnu::always_inline]] Vector<T> y(bool up, bool before) const {
    if constexpr (relief) return along(1, k_ - up, j_, before);
    return (before ? h_before_ : h_) * (w_.dual_y * (up ? w_.inverse_hz_before : w_.inverse_hz));
  }
  [[gnu::always_inline]] Vector<T> z(bool back, bool before) const {
    if constexpr (relief) return along(2, k_, j_ - back, before);
    return (before ? h_before_ : h_) * (w_.dual_z * (back ? w_.inverse_hy_before : w_.inverse_hy));
  }

 private:
  [[gnu::always_inline]] Vector<T> along(int c, int k, int j, bool before) const {
    return before ? load(level_.face(c, k, j, 1 - parity_) + at_ - 1 + parity_)
                  : load(level_.face(c, k, j, parity_) + at_);
  }
  const Level<T>& level_;
  const RowCoefficients<T>& w_;
  int k_, j_, parity_;
  std::ptrdiff_t at_;
  Vector<T> h_{}, h_before_{}, dual_x_{};
};

/// Computes r = b − A x of the slab j; without b it is −A x. Where there is no unknown, r is not touched.
void residual_of_slab(const Level<float>& level, const float* b, const float* x, float* r, int j);
void residual_of_slab(const Level<double>& level, const double* b, const double* x, double* r, int j);

/// Computes r = b − A x, slabs shared by the threads.
template <class T>
void residual(const Level<T>& level, const Field<T>* b, const Field<T>& x, Field<T>& r);

}  // namespace lodestone::physics::linalg::multigrid
