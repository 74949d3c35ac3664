// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/split_block.hpp"

#include "engine/core/vector_clones.hpp"
#include "physics/linalg/complex_rows.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::linalg {

namespace {

constexpr int padding = 8;  // doubles of the widest vector

/// The planes of a block.
struct Planes {
  double *re, *im;
  int size, stride;
};

/// Computes target.col(to) += factor · source.col(from) for every coupling; `transposed` swaps the roles of
/// its row and column.
LODESTONE_VECTOR_CLONES
void add_columns(const Planes& source, const Coupling* coupling, std::size_t n, double sign,
                 const Planes& target) {
  for (std::size_t c = 0; c < n; ++c) {
    const double a = sign * coupling[c].value.real(), b = sign * coupling[c].value.imag();
    const std::size_t from = static_cast<std::size_t>(coupling[c].row) * source.stride;
    const std::size_t to = static_cast<std::size_t>(coupling[c].column) * target.stride;
    const double* __restrict x = source.re + from, * __restrict y = source.im + from;
    double* __restrict u = target.re + to, * __restrict v = target.im + to;
    for (int i = 0; i < target.stride; ++i) {
      u[i] += a * x[i] - b * y[i];
      v[i] += a * y[i] + b * x[i];
    }
  }
}

Vector& at(double* address) { return *reinterpret_cast<Vector*>(address); }

/// Q columns of the block, and row by row the same times the inverse of their pivots. Work of a sweep.
template <int Q>
struct Panel {
  double *re, *im;  ///< (stride) each of Q columns
  Complex* scaled;  ///< (Q) of each row
  int stride;
  [[nodiscard]] double& real(int i, int c) const { return re[i + c * stride]; }
  [[nodiscard]] double& imag(int i, int c) const { return im[i + c * stride]; }
};

/// Multiplies without the checks for infinities of `*`.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Computes −D⁻¹ of a small symmetric D by single sweeps. → false at a zero pivot.
template <int Q>
bool sweep_pivots(Complex (&d)[Q][Q]) {
  for (int k = 0; k < Q; ++k) {
    const double norm = std::norm(d[k][k]);
    if (!(norm > 0.0)) return false;
    const Complex inverse = std::conj(d[k][k]) / norm;
    Complex column[Q], scaled[Q];
    for (int i = 0; i < Q; ++i) {
      column[i] = d[i][k];
      scaled[i] = product(column[i], inverse);
    }
    for (int i = 0; i < Q; ++i) {
      for (int j = 0; j < Q; ++j) d[i][j] -= product(column[i], scaled[j]);
    }
    for (int i = 0; i < Q; ++i) d[i][k] = d[k][i] = scaled[i];
    d[k][k] = -inverse;
  }
  return true;
}

/// Computes block ← block − Σ_c panel_c scaled_cᵀ on and below the diagonal (and a little above, where
/// nothing is read).
template <int Q>
[[gnu::always_inline]] inline void subtract_panel(const Planes& block, const Panel<Q>& panel) {
  for (int i = 0; i < block.stride; i += 4) {
    Vector x[Q], y[Q];
    for (int c = 0; c < Q; ++c) {
      x[c] = at(&panel.real(i, c));
      y[c] = at(&panel.imag(i, c));
    }
    for (int j = 0; j < std::min(i + 4, block.size); ++j) {
      Vector &u = at(block.re + i + j * block.stride), &v = at(block.im + i + j * block.stride);
      Vector re = u, im = v;
      for (int c = 0; c < Q; ++c) {
        const double a = panel.scaled[j * Q + c].real(), b = panel.scaled[j * Q + c].imag();
        re = re - a * x[c] + b * y[c];
        im = im - a * y[c] - b * x[c];
      }
      u = re;
      v = im;
    }
  }
}

/// Columns k … k + Q − 1 of the symmetric block whose lower triangle is given.
template <int Q>
[[gnu::always_inline]] inline void gather(const Planes& block, int k, const Panel<Q>& panel) {
  const int n = block.size, stride = block.stride;
  for (int c = 0; c < Q; ++c) {
    const int pivot = k + c;
    for (int j = 0; j < pivot; ++j) {
      panel.real(j, c) = block.re[pivot + j * stride];
      panel.imag(j, c) = block.im[pivot + j * stride];
    }
    for (int i = pivot; i < n; ++i) {
      panel.real(i, c) = block.re[i + pivot * stride];
      panel.imag(i, c) = block.im[i + pivot * stride];
    }
  }
}

template <int Q>
[[gnu::always_inline]] inline void scatter(const Planes& block, int k, const Panel<Q>& panel,
                                           const Complex (&pivots)[Q][Q]) {
  const int n = block.size, stride = block.stride;
  for (int c = 0; c < Q; ++c) {
    for (int j = 0; j < k; ++j) {
      block.re[k + c + j * stride] = panel.scaled[j * Q + c].real();
      block.im[k + c + j * stride] = panel.scaled[j * Q + c].imag();
    }
    for (int e = c; e < Q; ++e) {
      block.re[k + e + (k + c) * stride] = pivots[e][c].real();
      block.im[k + e + (k + c) * stride] = pivots[e][c].imag();
    }
    for (int i = k + Q; i < n; ++i) {
      block.re[i + (k + c) * stride] = panel.scaled[i * Q + c].real();
      block.im[i + (k + c) * stride] = panel.scaled[i * Q + c].imag();
    }
  }
}

/// Sweeps pivots k … k + Q − 1 of the lower triangle. → false at a zero pivot.
template <int Q>
[[gnu::always_inline]] inline bool sweep_panel(const Planes& block, int k, const Panel<Q>& panel) {
  gather(block, k, panel);
  Complex pivots[Q][Q];
  for (int c = 0; c < Q; ++c) {
    for (int e = 0; e < Q; ++e) pivots[c][e] = Complex(panel.real(k + e, c), panel.imag(k + e, c));
  }
  if (!sweep_pivots(pivots)) return false;
  for (int i = 0; i < block.size; ++i) {
    for (int e = 0; e < Q; ++e) {
      double re = 0.0, im = 0.0;
      for (int c = 0; c < Q; ++c) {
        re -= panel.real(i, c) * pivots[c][e].real() - panel.imag(i, c) * pivots[c][e].imag();
        im -= panel.real(i, c) * pivots[c][e].imag() + panel.imag(i, c) * pivots[c][e].real();
      }
      panel.scaled[i * Q + e] = Complex(re, im);
    }
  }
  subtract_panel(block, panel);
  scatter(block, k, panel, pivots);
  return true;
}

template <int Q>
Panel<Q> panel_in(double* work, int stride) {
  return {work, work + Q * stride, reinterpret_cast<Complex*>(work + 2 * Q * stride), stride};
}

/// The block's lower triangle becomes that of −block⁻¹. shapes: work (16·stride). → false at a zero pivot.
LODESTONE_VECTOR_CLONES
bool sweep(const Planes& block, double* work) {
  int k = 0;
  for (; k + 4 <= block.size; k += 4) {
    if (!sweep_panel(block, k, panel_in<4>(work, block.stride))) return false;
  }
  for (; k < block.size; ++k) {
    if (!sweep_panel(block, k, panel_in<1>(work, block.stride))) return false;
  }
  return true;
}

void transpose(const Planes& source, const Planes& target) {
  for (int j = 0; j < source.size; ++j) {
    for (int i = 0; i < source.size; ++i) {
      target.re[j + i * target.stride] = source.re[i + j * source.stride];
      target.im[j + i * target.stride] = source.im[i + j * source.stride];
    }
  }
}

}  // namespace

SplitBlock::SplitBlock(int size)
    : size_(size),
      stride_((size + padding - 1) / padding * padding),
      panel_(16 * static_cast<std::size_t>(stride_)) {
  for (auto* plane : {&re_, &im_, &work_re_, &work_im_})
    plane->assign(static_cast<std::size_t>(stride_) * stride_, 0.0);
}

void SplitBlock::set_zero() {
  std::fill(re_.begin(), re_.end(), 0.0);
  std::fill(im_.begin(), im_.end(), 0.0);
}

void SplitBlock::set(int row, int column, Complex value) {
  re_[row + static_cast<std::size_t>(column) * stride_] = value.real();
  im_[row + static_cast<std::size_t>(column) * stride_] = value.imag();
}

void SplitBlock::read(const Complex* matrix, int stride) {
  for (int j = 0; j < size_; ++j) {
    for (int i = 0; i < size_; ++i) set(i, j, matrix[i + static_cast<std::size_t>(j) * stride]);
  }
}

void SplitBlock::write(Complex* matrix, int stride) const {
  for (int j = 0; j < size_; ++j) {
    const double *re = re_.data() + static_cast<std::size_t>(j) * stride_,
                 *im = im_.data() + static_cast<std::size_t>(j) * stride_;
    for (int i = 0; i < size_; ++i) matrix[i + static_cast<std::size_t>(j) * stride] = Complex(re[i], im[i]);
  }
}

void SplitBlock::subtract_sandwich(const SplitBlock& inverse, const std::vector<Coupling>& coupling) {
  // R = inverse C by columns, and Cᵀ R = (Rᵀ C)ᵀ the same way; the result is symmetric.
  const Planes source{const_cast<double*>(inverse.re_.data()), const_cast<double*>(inverse.im_.data()), size_,
                      stride_};
  std::vector<double> right_re(re_.size(), 0.0), right_im(re_.size(), 0.0);
  const Planes right{right_re.data(), right_im.data(), size_, stride_},
      turned{work_re_.data(), work_im_.data(), size_, stride_};
  add_columns(source, coupling.data(), coupling.size(), 1.0, right);
  transpose(right, turned);
  add_columns(turned, coupling.data(), coupling.size(), -1.0, {re_.data(), im_.data(), size_, stride_});
}

bool SplitBlock::invert() {
  const Planes block{re_.data(), im_.data(), size_, stride_};
  if (!sweep(block, panel_.data())) return false;
  for (int j = 0; j < size_; ++j) {
    for (int i = j; i < size_; ++i) {
      const std::size_t here = i + static_cast<std::size_t>(j) * stride_,
                        there = j + static_cast<std::size_t>(i) * stride_;
      re_[here] = re_[there] = -re_[here];
      im_[here] = im_[there] = -im_[here];
    }
  }
  return true;
}

}  // namespace lodestone::physics::linalg
