// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/line_blocks.hpp"

#include "engine/core/error.hpp"

extern "C" {
void zgetrf_(const int* m, const int* n, std::complex<double>* a, const int* lda, int* pivots, int* info);
void zgetri_(const int* n, std::complex<double>* a, const int* lda, const int* pivots, std::complex<double>* work, const int* lwork,
             int* info);
void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const std::complex<double>* alpha,
            const std::complex<double>* a, const int* lda, const std::complex<double>* b, const int* ldb, const std::complex<double>* beta,
            std::complex<double>* c, const int* ldc);
}

namespace lodestone::physics::linalg {

void invert_in_place(Eigen::MatrixXcd& matrix, int line) {
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

void multiply(const char* op, const Eigen::MatrixXcd& matrix, const Complex* source, BlockColumns target, int n_columns, Complex alpha,
              Complex beta) {
  const int m = static_cast<int>(matrix.rows());
  zgemm_(op, "N", &m, &n_columns, &m, &alpha, matrix.data(), &m, source, &target.stride, &beta, target.data, &target.stride);
}

void subtract_transposed(const std::vector<Coupling>& coupling, const Eigen::MatrixXcd& dense, Eigen::MatrixXcd& target) {
  const Eigen::MatrixXcd rows = dense.transpose();  // columns are contiguous
  Eigen::MatrixXcd result = Eigen::MatrixXcd::Zero(dense.cols(), target.rows());
  for (const auto& [row, column, value] : coupling) result.col(column).noalias() += value * rows.col(row);
  target -= result.transpose();
}

}  // namespace lodestone::physics::linalg
