// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/line_blocks.hpp"

#include "engine/core/error.hpp"
#include "engine/core/vector_clones.hpp"
#include "physics/linalg/complex_rows.hpp"
#include "physics/linalg/split_block.hpp"

#include <array>

extern "C" void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                       const std::complex<double>* alpha, const std::complex<double>* a, const int* lda,
                       const std::complex<double>* b, const int* ldb, const std::complex<double>* beta,
                       std::complex<double>* c, const int* ldc);
extern "C" void zgemv_(const char* trans, const int* m, const int* n, const std::complex<double>* alpha,
                       const std::complex<double>* a, const int* lda, const std::complex<double>* x,
                       const int* incx, const std::complex<double>* beta, std::complex<double>* y,
                       const int* incy);

namespace lodestone::physics::linalg {

namespace {

constexpr int largest_swept = 96;  // beyond, halving and zgemm are faster

/// A square part of a matrix.
struct Part {
  Complex* data;
  int size, stride;
};

/// Computes c ← beta·c + alpha·op(a)·op(b); c has m rows and n columns, the products run over k.
void product(const char* ops, std::array<int, 3> mnk, Complex alpha, const Part& a, const Part& b,
             Complex beta, const Part& c) {
  zgemm_(ops, ops + 1, &mnk[0], &mnk[1], &mnk[2], &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data,
         &c.stride);
}

bool invert_swept(const Part& a) {
  SplitBlock block(a.size);
  block.read(a.data, a.stride);
  if (!block.invert()) return false;
  block.write(a.data, a.stride);
  return true;
}

/// Computes [P Q; Qᵀ R]⁻¹ by the inverse of P and of the Schur complement S = R − Qᵀ P⁻¹ Q: 16/3·size³ flops.
/// → false at a zero pivot.
bool invert(const Part& a) {
  if (a.size <= largest_swept) return invert_swept(a);
  const int n = a.size / 2, m = a.size - n, stride = a.stride;
  const Part p{a.data, n, stride}, below{a.data + n, m, stride},
      right{a.data + static_cast<Eigen::Index>(n) * stride, m, stride}, r{right.data + n, m, stride};
  Eigen::MatrixXcd storage(m, n);
  const Part w{storage.data(), m, m};
  if (!invert(p)) return false;
  product("NN", {m, n, n}, 1.0, below, p, 0.0, w);   // W = Qᵀ P⁻¹
  product("NT", {m, m, n}, -1.0, w, below, 1.0, r);  // S
  if (!invert(r)) return false;
  product("NN", {m, n, m}, -1.0, r, w, 0.0, below);  // −S⁻¹ W
  product("TN", {n, n, m}, -1.0, w, below, 1.0, p);  // P⁻¹ + Wᵀ S⁻¹ W
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i)
      right.data[j + static_cast<Eigen::Index>(i) * stride] =
          below.data[i + static_cast<Eigen::Index>(j) * stride];
  }
  return true;
}

}  // namespace

double inverse_flops(int size) {
  if (size <= largest_swept) return 4.0 * size * size * size;
  const double n = size / 2, m = size - n;
  return inverse_flops(static_cast<int>(n)) + inverse_flops(static_cast<int>(m)) + 16.0 * n * m * size;
}

void throw_zero_pivot(int line) {
  throw core::SolverError("linalg#zero_pivot",
                          "zero pivot in mesh line {}; check that all resistivities are finite and positive",
                          line);
}

void invert_in_place(Eigen::MatrixXcd& matrix, int line) {
  const int n = static_cast<int>(matrix.rows());
  if (!invert({matrix.data(), n, n})) throw_zero_pivot(line);
}

void invert_in_place(SplitBlock& block, Eigen::MatrixXcd& inverse, int line) {
  const int n = block.size();
  inverse.resize(n, n);
  if (n <= largest_swept) {
    if (!block.invert()) throw_zero_pivot(line);
    block.write(inverse.data(), n);
    return;
  }
  block.write(inverse.data(), n);
  invert_in_place(inverse, line);
  block.read(inverse.data(), n);
}

void multiply(const char* op, const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b, Complex alpha,
              Complex beta, Eigen::MatrixXcd& target) {
  const int m = static_cast<int>(a.rows());
  zgemm_(op, "N", &m, &m, &m, &alpha, a.data(), &m, b.data(), &m, &beta, target.data(), &m);
}

void multiply_rows(const Rows& source, const char* op, const Eigen::MatrixXcd& matrix, Complex alpha,
                   Complex beta, Complex* target) {
  const int m = static_cast<int>(matrix.rows());
  if (source.count == 0) return;
  if (source.stride == 1) {
    constexpr int one = 1;
    zgemv_(*op == 'N' ? "T" : "N", &m, &m, &alpha, matrix.data(), &m, source.data, &one, &beta, target, &one);
  } else {
    zgemm_("N", op, &source.count, &m, &m, &alpha, source.data, &source.stride, matrix.data(), &m, &beta,
           target, &source.stride);
  }
}

LODESTONE_VECTOR_CLONES
void add_rows(const Rows& source, const std::vector<Coupling>& coupling, bool transposed, double sign,
              Complex* target) {
  for (const auto& [row, column, value] : coupling) {
    const auto from = static_cast<std::size_t>(transposed ? column : row),
               to = static_cast<std::size_t>(transposed ? row : column);
    const auto stride = static_cast<std::size_t>(source.stride);
    add_scaled(sign * value, source.data + from * stride, target + to * stride, source.count);
  }
}

int ReachedRows::after(const Complex* columns, int n) {
  for (int j = 0; j < n && count_ < rows_; ++j) {
    const Complex* column = columns + static_cast<std::size_t>(j) * rows_;
    for (int i = rows_ - 1; i >= count_; --i) {
      if (column[i] != Complex(0.0)) count_ = i + 1;
    }
  }
  return count_;
}

}  // namespace lodestone::physics::linalg
