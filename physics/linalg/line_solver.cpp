// SPDX-License-Identifier: Apache-2.0
// Symbols: D_i the block of line i, C_i its coupling to line i + 1, S_0 = D_0, S_{i+1} = D_{i+1} − C_iᵀ S_i⁻¹ C_i; the factors are the S_i⁻¹.
// The coupling of two lines of a quadrilateral mesh is tridiagonal, so products with it are cheap and the dense work is S_i⁻¹ and its products.
#include "engine/core/error.hpp"
#include "physics/linalg/symmetric_solver.hpp"

#include <algorithm>
#include <utility>

extern "C" {
void zgetrf_(const int* m, const int* n, std::complex<double>* a, const int* lda, int* pivots, int* info);
void zgetri_(const int* n, std::complex<double>* a, const int* lda, const int* pivots, std::complex<double>* work, const int* lwork,
             int* info);
void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const std::complex<double>* alpha,
            const std::complex<double>* a, const int* lda, const std::complex<double>* b, const int* ldb, const std::complex<double>* beta,
            std::complex<double>* c, const int* ldc);
}

namespace lodestone::physics::linalg {

namespace {

using Eigen::MatrixXcd;

/// One nonzero of the coupling C between a line and the next.
struct Coupling {
  int row, column;
  Complex value;
};

void invert_in_place(MatrixXcd& matrix, int line) {
  const int n = static_cast<int>(matrix.rows()), work_size = 32 * n;
  std::vector<int> pivots(n);
  std::vector<Complex> work(work_size);
  int info = 0;
  zgetrf_(&n, &n, matrix.data(), &n, pivots.data(), &info);
  if (info == 0) zgetri_(&n, matrix.data(), &n, pivots.data(), work.data(), &work_size, &info);
  if (info != 0)
    throw core::SolverError("linalg", "zero pivot in mesh line {} (LAPACK info {}); are all resistivities finite and positive?", line,
                            info);
}

/// target ← target + alpha · inverse · source, for blocks of rows inside taller matrices.
void multiply(const MatrixXcd& inverse, const Complex* source, Complex* target, int n_columns, int stride, Complex alpha, Complex beta) {
  const int m = static_cast<int>(inverse.rows());
  zgemm_("N", "N", &m, &n_columns, &m, &alpha, inverse.data(), &m, source, &stride, &beta, target, &stride);
}

class LineFactorisation final : public Factorisation {
 public:
  LineFactorisation(std::vector<MatrixXcd> inverses, std::vector<std::vector<Coupling>> couplings)
      : Factorisation(static_cast<int>(inverses.size() * inverses.front().rows()),
                      static_cast<double>(inverses.size()) * static_cast<double>(inverses.front().size()),
                      8.0 * static_cast<double>(inverses.size()) * static_cast<double>(inverses.front().size()) *
                          static_cast<double>(inverses.front().rows())),
        inverses_(std::move(inverses)),
        couplings_(std::move(couplings)) {}

 private:
  MatrixXcd do_solve(const Eigen::Ref<const MatrixXcd>& right_hand_sides) const override {
    const auto n_lines = static_cast<int>(inverses_.size());
    const auto m = static_cast<int>(inverses_.front().rows()), n = m * n_lines, k = static_cast<int>(right_hand_sides.cols());
    MatrixXcd reduced = right_hand_sides, x(n, k), coupled(n, k);
    for (int line = 0; line < n_lines; ++line) {  // x_i = S_i⁻¹ z_i, z_{i+1} −= C_iᵀ x_i
      multiply(inverses_[line], reduced.data() + line * m, x.data() + line * m, k, n, 1.0, 0.0);
      if (line + 1 == n_lines) break;
      for (int j = 0; j < k; ++j) {
        const Complex* from = x.data() + static_cast<Eigen::Index>(j) * n + line * m;
        Complex* to = reduced.data() + static_cast<Eigen::Index>(j) * n + (line + 1) * m;
        for (const auto& [row, column, value] : couplings_[line]) to[column] -= value * from[row];
      }
    }
    for (int line = n_lines - 2; line >= 0; --line) {  // x_i −= S_i⁻¹ C_i x_{i+1}
      for (int j = 0; j < k; ++j) {
        const Complex* from = x.data() + static_cast<Eigen::Index>(j) * n + (line + 1) * m;
        Complex* to = coupled.data() + static_cast<Eigen::Index>(j) * n + line * m;
        std::fill_n(to, m, Complex(0.0));
        for (const auto& [row, column, value] : couplings_[line]) to[row] += value * from[column];
      }
      multiply(inverses_[line], coupled.data() + line * m, x.data() + line * m, k, n, -1.0, 1.0);
    }
    return x;
  }

  std::vector<MatrixXcd> inverses_;
  std::vector<std::vector<Coupling>> couplings_;
};

class LineSolver final : public SymmetricSolver {
 public:
  LineSolver(SparsityPattern given, int line_size) : SymmetricSolver(std::move(given)), m_(line_size) {
    const auto& [row_start, column] = pattern();
    if (m_ < 1 || pattern().size() % m_ != 0) {
      throw core::InvalidArgument("linalg::LineSolver", "expected a multiple of the line size {} unknowns, got {}", m_, pattern().size());
    }
    for (int row = 0; row < pattern().size(); ++row) {
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        if (std::abs(column[p] / m_ - row / m_) > 1) {
          throw core::InvalidArgument("linalg::LineSolver",
                                      "unknowns {} and {} couple lines that are not neighbours; number the mesh line by line", row,
                                      column[p]);
        }
      }
    }
  }

 private:
  std::unique_ptr<Factorisation> do_factorise(std::span<const Complex> values) const override {
    const int n_lines = pattern().size() / m_;
    std::vector<MatrixXcd> inverses;
    std::vector<std::vector<Coupling>> couplings(n_lines);
    for (int line = 0; line < n_lines; ++line) {
      MatrixXcd& schur = inverses.emplace_back(MatrixXcd::Zero(m_, m_));
      read_line(values, line, schur, couplings[line]);
      if (line > 0) subtract_previous(inverses[line - 1], couplings[line - 1], schur);
      invert_in_place(schur, line);
    }
    return std::make_unique<LineFactorisation>(std::move(inverses), std::move(couplings));
  }

  void read_line(std::span<const Complex> values, int line, MatrixXcd& block, std::vector<Coupling>& coupling) const {
    const auto& [row_start, column] = pattern();
    const int first = line * m_;
    for (int row = 0; row < m_; ++row) {
      for (int p = row_start[first + row]; p < row_start[first + row + 1]; ++p) {
        const int other = column[p] - first;
        if (other >= m_) {
          coupling.push_back({row, other - m_, values[p]});
        } else if (other >= 0) {
          block(row, other) = values[p];
        }
      }
    }
  }

  /// schur ← schur − Cᵀ S⁻¹ C.
  void subtract_previous(const MatrixXcd& inverse, const std::vector<Coupling>& coupling, MatrixXcd& schur) const {
    MatrixXcd right = MatrixXcd::Zero(m_, m_);
    for (const auto& [row, column, value] : coupling) right.col(column).noalias() += value * inverse.col(row);
    MatrixXcd transposed = MatrixXcd::Zero(m_, m_);  // (Cᵀ right)ᵀ, column by column; the product is symmetric
    const MatrixXcd rows = right.transpose();
    for (const auto& [row, column, value] : coupling) transposed.col(column).noalias() += value * rows.col(row);
    schur -= transposed;
  }

  int m_;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_line_solver(SparsityPattern pattern, int line_size) {
  return std::make_unique<LineSolver>(std::move(pattern), line_size);
}

}  // namespace lodestone::physics::linalg
