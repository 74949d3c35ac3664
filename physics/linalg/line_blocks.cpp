// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/line_blocks.hpp"

#include "engine/core/error.hpp"
#include "engine/core/vector_clones.hpp"
#include "physics/linalg/split_block.hpp"

#include <array>

extern "C" void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const std::complex<double>* alpha,
                       const std::complex<double>* a, const int* lda, const std::complex<double>* b, const int* ldb,
                       const std::complex<double>* beta, std::complex<double>* c, const int* ldc);
extern "C" void zgemv_(const char* trans, const int* m, const int* n, const std::complex<double>* alpha, const std::complex<double>* a,
                       const int* lda, const std::complex<double>* x, const int* incx, const std::complex<double>* beta,
                       std::complex<double>* y, const int* incy);

namespace lodestone::physics::linalg {

namespace {

constexpr int largest_swept = 96;  // beyond, halving and zgemm are faster

/// A square part of a matrix.
struct Part {
  Complex* data;
  int size, stride;
};

/// c ← beta·c + alpha·op(a)·op(b); c has m rows and n columns, the products run over k.
void product(const char* ops, std::array<int, 3> mnk, Complex alpha, const Part& a, const Part& b, Complex beta, const Part& c) {
  zgemm_(ops, ops + 1, &mnk[0], &mnk[1], &mnk[2], &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data, &c.stride);
}

bool invert_swept(const Part& a) {
  SplitBlock block(a.size);
  block.read(a.data, a.stride);
  if (!block.invert()) return false;
  block.write(a.data, a.stride);
  return true;
}

/// [P Q; Qᵀ R]⁻¹ by the inverse of P and of the Schur complement S = R − Qᵀ P⁻¹ Q: 16/3·size³ flops. → false at a zero pivot.
bool invert(const Part& a) {
  if (a.size <= largest_swept) return invert_swept(a);
  const int n = a.size / 2, m = a.size - n, stride = a.stride;
  const Part p{a.data, n, stride}, below{a.data + n, m, stride}, right{a.data + static_cast<Eigen::Index>(n) * stride, m, stride},
      r{right.data + n, m, stride};
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
      right.data[j + static_cast<Eigen::Index>(i) * stride] = below.data[i + static_cast<Eigen::Index>(j) * stride];
  }
  return true;
}

}  // namespace

[[noreturn]] void throw_zero_pivot(int line) {
  throw core::SolverError("linalg", "zero pivot in mesh line {}; are all resistivities finite and positive?", line);
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

void multiply(const char* op, const Eigen::MatrixXcd& matrix, const Complex* source, Complex* target, int n_columns, Complex alpha,
              Complex beta) {
  const int m = static_cast<int>(matrix.rows());
  zgemm_(op, "N", &m, &n_columns, &m, &alpha, matrix.data(), &m, source, &m, &beta, target, &m);
}

void multiply_rows(const Rows& source, const Eigen::MatrixXcd& symmetric, Complex alpha, Complex beta, Complex* target) {
  const int m = static_cast<int>(symmetric.rows());
  if (source.stride == 1) {
    constexpr int one = 1;
    zgemv_("N", &m, &m, &alpha, symmetric.data(), &m, source.data, &one, &beta, target, &one);
  } else {
    zgemm_("N", "N", &source.count, &m, &m, &alpha, source.data, &source.stride, symmetric.data(), &m, &beta, target, &source.stride);
  }
}

LODESTONE_VECTOR_CLONES
void add_rows(const Rows& source, const std::vector<Coupling>& coupling, bool transposed, double sign, Complex* target) {
  for (const auto& [row, column, value] : coupling) {
    const auto from = static_cast<std::size_t>(transposed ? column : row), to = static_cast<std::size_t>(transposed ? row : column);
    const auto* __restrict x = reinterpret_cast<const double*>(source.data + from * static_cast<std::size_t>(source.stride));
    auto* __restrict y = reinterpret_cast<double*>(target + to * static_cast<std::size_t>(source.stride));
    const double a = sign * value.real(), b = sign * value.imag();
    for (int i = 0; i < 2 * source.count; i += 2) {
      y[i] += a * x[i] - b * x[i + 1];
      y[i + 1] += a * x[i + 1] + b * x[i];
    }
  }
}

void subtract_transposed(const std::vector<Coupling>& coupling, const Eigen::MatrixXcd& dense, Eigen::MatrixXcd& target) {
  const Eigen::MatrixXcd rows = dense.transpose();  // columns are contiguous
  Eigen::MatrixXcd result = Eigen::MatrixXcd::Zero(dense.cols(), target.rows());
  for (const auto& [row, column, value] : coupling) result.col(column).noalias() += value * rows.col(row);
  target -= result.transpose();
}

}  // namespace lodestone::physics::linalg
