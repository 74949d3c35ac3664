// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: fields of pairs in the order that vectors of numbers want.
#pragma once

#include "physics/fem/edge_grid.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/linalg/multigrid/lanes.hpp"

#include <cstddef>
#include <vector>

namespace lodestone::physics::linalg::multigrid {

/// The parts of a pair at a node: the edges that begin there along x, y and z, and the node itself.
enum Component : int { along_x, along_y, along_z, at_node };
inline constexpr int n_components = 4;

/// The order of a field in memory. A row runs along x; its even places stand before its odd ones, and its
/// real parts before its imaginary parts. The components of a row follow each other, then rows along z, then
/// y: a slab of one j lies together.
struct Layout {
  explicit Layout(const fem::EdgeGrid& grid)
      : nx(grid.n(0)), ny(grid.n(1)), nz(grid.n(2)), half(((nx + 2) / 2 + padding - 1) / padding * padding) {}

  int nx, ny, nz;
  std::ptrdiff_t half;  ///< numbers of one parity of a row, filled up to whole vectors of either precision
  [[nodiscard]] std::ptrdiff_t part() const { return 2 * half; }       ///< from real to imaginary parts
  [[nodiscard]] std::ptrdiff_t component() const { return 4 * half; }  ///< from a component to the next
  [[nodiscard]] std::ptrdiff_t layer() const { return n_components * component(); }  ///< from k to k + 1
  [[nodiscard]] std::ptrdiff_t slab() const { return (nz + 1) * layer(); }           ///< from j to j + 1
  [[nodiscard]] std::ptrdiff_t size() const { return (ny + 1) * slab(); }
  [[nodiscard]] std::ptrdiff_t row(int c, int k, int j) const {
    return j * slab() + k * layer() + c * component();
  }
  /// Returns the place of number i within the real or imaginary part of a row.
  [[nodiscard]] std::ptrdiff_t place(int i) const { return (i & 1) * half + i / 2; }

  static constexpr int padding = Lanes<float>::width;
};

/// Numbers with room before and after for loads that reach beyond a row.
template <class T>
class Padded {
 public:
  Padded() = default;
  explicit Padded(std::ptrdiff_t size) : numbers_(static_cast<std::size_t>(size) + 2 * margin, T(0)) {}
  [[nodiscard]] T* data() { return numbers_.data() + margin; }
  [[nodiscard]] const T* data() const { return numbers_.data() + margin; }
  [[nodiscard]] std::size_t bytes() const { return numbers_.size() * sizeof(T); }

 private:
  static constexpr std::ptrdiff_t margin = 2 * lane_bytes / static_cast<std::ptrdiff_t>(sizeof(T));
  std::vector<T> numbers_;
};

/// A pair on one grid.
template <class T>
class Field {
 public:
  explicit Field(const Layout& layout) : numbers_(layout.size()) {}
  [[nodiscard]] T* data() { return numbers_.data(); }
  [[nodiscard]] const T* data() const { return numbers_.data(); }

 private:
  Padded<T> numbers_;
};

/// Copies a column of pairs into the order of a layout, and back.
void read_pair(const fem::EdgeGrid& grid, const PairBlock& from, Eigen::Index column, Field<double>& to);
void write_pair(const fem::EdgeGrid& grid, const Field<double>& from, Eigen::Index column, PairBlock& to);

}  // namespace lodestone::physics::linalg::multigrid
