// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: small dense symmetric blocks in loops that the compiler vectorizes.
#pragma once

#include "physics/linalg/line_blocks.hpp"

#include <vector>

namespace lodestone::physics::linalg {

/// A complex-symmetric block, real and imaginary parts apart, columns padded to whole vectors.
class SplitBlock {
 public:
  explicit SplitBlock(int size);
  [[nodiscard]] int size() const { return size_; }
  void set_zero();
  void set(int row, int column, Complex value);
  void read(const Complex* matrix, int stride);
  void write(Complex* matrix, int stride) const;

  /// Computes this ← this − Cᵀ inverse C, `inverse` symmetric.
  void subtract_sandwich(const SplitBlock& inverse, const std::vector<Coupling>& coupling);
  /// Computes this ← this⁻¹ by symmetric sweeps, 4·size³ flops, without pivoting: stable where the real part
  /// (or that of the block times one phase factor) is definite (Higham 1998, Math. Comp. 67, 1591). → false
  /// at a zero pivot.
  [[nodiscard]] bool invert();

 private:
  int size_, stride_;
  std::vector<double> re_, im_, work_re_, work_im_, panel_;
};

}  // namespace lodestone::physics::linalg
