// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/dense.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
namespace lapack = inversion::optimize::lapack;

namespace {

Eigen::MatrixXd positive_definite(Eigen::Index n) {
  const Eigen::MatrixXd a = tests::random_matrix(n, n, 5);
  return a * a.transpose() + Eigen::MatrixXd::Identity(n, n);
}

/// The lower triangle of the factor, the rest 0.
Eigen::MatrixXd factor_of(Eigen::MatrixXd matrix) {
  REQUIRE(lapack::factorize(matrix));
  return matrix.triangularView<Eigen::Lower>();
}

}  // namespace

TEST_CASE("Cholesky factors: less than a tile, whole tiles and a rest give the matrix back") {
  for (const Eigen::Index n : {1, 255, 256, 257, 600}) {
    const Eigen::MatrixXd matrix = positive_definite(n), factor = factor_of(matrix);
    INFO(n);
    CHECK((factor * factor.transpose() - matrix).norm() < 1e-13 * matrix.norm());
    const Eigen::VectorXd x = tests::random_matrix(n, 1, 6).col(0);
    CHECK((lapack::solve(factor, matrix * x) - x).norm() < 1e-8 * x.norm());
  }
}

TEST_CASE("Cholesky factors: only the lower triangle is read") {
  const Eigen::MatrixXd matrix = positive_definite(600);
  CHECK(factor_of(matrix.triangularView<Eigen::Lower>()) == factor_of(matrix));
}

TEST_CASE("Cholesky factors: a matrix that is not positive definite has none, wherever it fails") {
  for (const Eigen::Index bad : {0, 300, 599}) {
    Eigen::MatrixXd matrix = positive_definite(600);
    matrix(bad, bad) = -1.0;
    CHECK_FALSE(lapack::factorize(matrix));
  }
}

TEST_CASE("dense algebra: any number of threads gives the same bits") {
  const Eigen::MatrixXd matrix = positive_definite(700), a = tests::random_matrix(90, 700, 7);
  const core::Team alone(MPI_COMM_SELF);
  const Eigen::MatrixXd factor = factor_of(matrix), gram = inversion::optimize::shared_gram(alone, a);
  for (const int n_threads : {2, 3}) {
    const tests::ThreadCount set(n_threads);
    CHECK(factor_of(matrix) == factor);
    CHECK(inversion::optimize::shared_gram(alone, a) == gram);
  }
}
