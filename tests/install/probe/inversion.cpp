// SPDX-License-Identifier: Apache-2.0
// Component inversion: Gauss-Newton on a linear map, which factorizes by LAPACK.
#include "engine/core/map_algebra.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/optimize/gauss_newton.hpp"

using namespace lodestone;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    Eigen::SparseMatrix<double> roughness(2, 2);
    roughness.setIdentity();
    const inversion::optimize::Objective objective{
        core::affine(2.0 * Eigen::Matrix2d::Identity(), Eigen::Vector2d::Zero()),
        inversion::objective::DataMisfit(
            core::DataSet({.observed = Eigen::Vector2d(2.0, 4.0), .sigma = Eigen::Vector2d::Constant(0.1)})),
        std::make_shared<inversion::objective::Regularization>(roughness, Eigen::Vector2d::Zero())};
    return inversion::optimize::GaussNewton(comm).minimize(objective, Eigen::Vector2d::Zero()).rms <= 1.0 ? 0
                                                                                                          : 1;
  });
}
