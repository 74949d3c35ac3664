// SPDX-License-Identifier: Apache-2.0
// Catch2 main for tests that need MPI and PETSc: runs the tests in declared order on every rank and returns
// the worst result of all ranks.
#define CATCH_CONFIG_RUNNER
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "tests/support/catch.hpp"

int main(int argc, char** argv) {
  lodestone::core::Session session;
  session.start<lodestone::core::MpiScope>(argc, argv);
  session.start<lodestone::physics::PetscScope>();
  const int here = Catch::Session().run(argc, argv);
  int worst = here;
  MPI_Allreduce(&here, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}
