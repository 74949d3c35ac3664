// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: block Gauss–Seidel along the vertical lines of a grid.
#pragma once

#include "physics/linalg/multigrid/level.hpp"

namespace lodestone::physics::linalg::multigrid {

/// Memory of one thread while it relaxes columns.
template <class T>
class ColumnScratch {
 public:
  explicit ColumnScratch(const Layout& layout) : numbers_((layout.nz + 2) * 10 * layout.half) {}
  [[nodiscard]] T* data() { return numbers_.data(); }

 private:
  Padded<T> numbers_;
};

/// The smoother of a level. A block holds the unknowns at the nodes of one inner vertical line: the edges
/// before and after each node along x and y, and its potential. The vertical edge of the lowest cell joins
/// them, for the loop that gradients lack. These span all edges at the nodes (the line version of Arnold,
/// Falk & Winther 2000, Numer. Math. 85, 197), yet curl and gradient parts do not cancel in rounding.
///
/// Blocks are banded: L D Lᵀ of half width 5 without pivoting, stable since A = K + iM with K, M
/// semi-definite. Slabs of odd j, then of even j, and even before odd i within a slab: slabs of one colour do
/// not touch each other, so that threads change no bit. A backward sweep reverses the order.
template <class T>
class ColumnSmoother {
 public:
  /// Factorizes every block. cost: 30 complex numbers a node.
  explicit ColumnSmoother(const Level<T>& level);

  enum class Direction { forward, backward };
  /// Relaxes A x = b once. `scratch`: one of each thread.
  void sweep(Direction direction, const Field<T>& b, Field<T>& x,
             std::vector<ColumnScratch<T>>& scratch) const;
  [[nodiscard]] std::size_t bytes() const { return factors_.bytes(); }
  /// Returns the factors of the nodes (i of one parity, j, k ≥ 1); k = nz holds the vertical edge.
  [[nodiscard]] T* factors(int j, int parity, int k) { return factors_.data() + factor_place(j, parity, k); }
  [[nodiscard]] const T* factors(int j, int parity, int k) const {
    return factors_.data() + factor_place(j, parity, k);
  }
  [[nodiscard]] const Level<T>& level() const { return *level_; }

 private:
  [[nodiscard]] std::ptrdiff_t factor_place(int j, int parity, int k) const;
  const Level<T>* level_;
  Padded<T> factors_;
};

}  // namespace lodestone::physics::linalg::multigrid
