// SPDX-License-Identifier: Apache-2.0
// Component physics: one system by BLAS and LAPACK and by PETSc.
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/linalg/symmetric_solver.hpp"

using namespace lodestone;
namespace linalg = physics::linalg;

int main(int argc, char** argv) {
  core::Session session;
  session.start<core::MpiScope>(argc, argv);
  session.start<physics::PetscScope>();
  return session.run([] {
    const linalg::SparsityPattern pattern{{0, 2, 4}, {0, 1, 0, 1}};
    const std::vector<linalg::Complex> values{{2.0, 1.0}, {-1.0, 0.0}, {-1.0, 0.0}, {3.0, 1.0}};
    const Eigen::VectorXcd b = Eigen::Vector2cd(1.0, 2.0);
    const Eigen::VectorXcd x = linalg::make_line_solver(pattern, 1)->factorize(values)->solve(b);
    const Eigen::VectorXcd y = linalg::make_petsc_solver(pattern)->factorize(values)->solve(b);
    return x.norm() > 0.0 && (x - y).norm() < 1e-12 * x.norm() ? 0 : 1;
  });
}
