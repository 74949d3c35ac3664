// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg.
#pragma once

#include "physics/linalg/line_blocks.hpp"

namespace lodestone::physics::linalg {

/// D = L P Lᵀ of a complex-symmetric band matrix, without pivoting (stable for a definite part,
/// split_block.hpp).
class SymmetricBand {
 public:
  SymmetricBand(int size, int bandwidth);
  [[nodiscard]] int size() const { return size_; }
  /// Sets an entry of the lower triangle, row − column ≤ bandwidth; before `factorize`.
  void set(int row, int column, Complex value) { at(row, column) = value; }
  /// Factorizes in place. errors: SolverError that names the mesh line.
  void factorize(int line);
  /// Computes Z ← Z D⁻¹ for the first `count` rows of a block of columns `stride` numbers apart.
  void solve_rows(Complex* z, int stride, int count) const;

 private:
  [[nodiscard]] Complex& at(int row, int column) {
    return lower_[static_cast<std::size_t>(column) * (bandwidth_ + 1) + row - column];
  }
  [[nodiscard]] Complex at(int row, int column) const {
    return lower_[static_cast<std::size_t>(column) * (bandwidth_ + 1) + row - column];
  }

  int size_, bandwidth_;
  std::vector<Complex> lower_;  ///< by columns; once factorized L below the diagonal and P⁻¹ on it
};

}  // namespace lodestone::physics::linalg
