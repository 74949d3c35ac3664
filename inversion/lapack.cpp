// SPDX-License-Identifier: Apache-2.0
#include "inversion/lapack.hpp"

// Fortran interfaces, so that any BLAS and LAPACK will do.
extern "C" {
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha, const double* a,
            const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a, const int* lda,
            const double* beta, double* c, const int* ldc);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* n_rhs, const double* a, const int* lda, double* b, const int* ldb, int* info);
}

namespace lodestone::inversion::lapack {

Eigen::MatrixXd transposed_product(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b) {
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(a.cols(), b.cols());
  const int m = static_cast<int>(a.cols()), n = static_cast<int>(b.cols()), k = static_cast<int>(a.rows());
  const int lda = static_cast<int>(a.outerStride()), ldb = static_cast<int>(b.outerStride()), ldc = m;
  const double one = 1.0, zero = 0.0;
  dgemm_("T", "N", &m, &n, &k, &one, a.data(), &lda, b.data(), &ldb, &zero, c.data(), &ldc);
  return c;
}

Eigen::MatrixXd lower_gram(const core::ConstMatrixRef& a) {
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  const int n = static_cast<int>(a.cols()), k = static_cast<int>(a.rows()), lda = static_cast<int>(a.outerStride());
  const double one = 1.0, zero = 0.0;
  dsyrk_("L", "T", &n, &k, &one, a.data(), &lda, &zero, c.data(), &n);
  return c;
}

bool factorise(Eigen::MatrixXd& lower) {
  const int n = static_cast<int>(lower.rows());
  int info = 0;
  dpotrf_("L", &n, lower.data(), &n, &info);
  return info == 0;
}

Eigen::VectorXd solve(const Eigen::MatrixXd& factor, Eigen::VectorXd b) {
  const int n = static_cast<int>(factor.rows()), n_rhs = 1;
  int info = 0;
  dpotrs_("L", &n, &n_rhs, factor.data(), &n, b.data(), &n, &info);
  return b;
}

}  // namespace lodestone::inversion::lapack
