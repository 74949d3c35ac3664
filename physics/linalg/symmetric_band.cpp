// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/symmetric_band.hpp"

#include "engine/core/vector_clones.hpp"
#include "physics/linalg/complex_rows.hpp"

#include <algorithm>

namespace lodestone::physics::linalg {

namespace {

/// The factors by columns: P⁻¹ and, below it, L.
struct Factors {
  const Complex* lower;
  int size, bandwidth;
  [[nodiscard]] const Complex& at(int row, int column) const {
    return lower[static_cast<std::size_t>(column) * (bandwidth + 1) + row - column];
  }
};

LODESTONE_VECTOR_CLONES
void solve(const Factors& factors, Complex* z, int stride, int count) {
  const auto column = [&](int j) { return z + static_cast<std::size_t>(j) * stride; };
  for (int j = 1; j < factors.size; ++j) {  // Z L⁻ᵀ
    for (int i = std::max(0, j - factors.bandwidth); i < j; ++i)
      add_scaled(-factors.at(j, i), column(i), column(j), count);
  }
  for (int j = factors.size - 1; j >= 0; --j) {  // P⁻¹ L⁻¹
    const Complex inverse = factors.at(j, j);
    auto* here = reinterpret_cast<double*>(column(j));
    for (int i = 0; i < 2 * count; i += 2) {
      const double re = here[i], im = here[i + 1];
      here[i] = inverse.real() * re - inverse.imag() * im;
      here[i + 1] = inverse.real() * im + inverse.imag() * re;
    }
    for (int i = j + 1; i < std::min(factors.size, j + factors.bandwidth + 1); ++i)
      add_scaled(-factors.at(i, j), column(i), column(j), count);
  }
}

}  // namespace

SymmetricBand::SymmetricBand(int size, int bandwidth)
    : size_(size), bandwidth_(bandwidth), lower_(static_cast<std::size_t>(size) * (bandwidth + 1)) {}

void SymmetricBand::factorize(int line) {
  for (int k = 0; k < size_; ++k) {
    if (!(std::norm(at(k, k)) > 0.0)) throw_zero_pivot(line);
    const Complex inverse = 1.0 / at(k, k);
    const int last = std::min(size_ - 1, k + bandwidth_);
    for (int j = k + 1; j <= last; ++j) {
      const Complex factor = at(j, k) * inverse;
      for (int i = j; i <= last; ++i) at(i, j) -= at(i, k) * factor;
    }
    for (int i = k + 1; i <= last; ++i) at(i, k) *= inverse;
    at(k, k) = inverse;
  }
}

void SymmetricBand::solve_rows(Complex* z, int stride, int count) const {
  solve({lower_.data(), size_, bandwidth_}, z, stride, count);
}

}  // namespace lodestone::physics::linalg
