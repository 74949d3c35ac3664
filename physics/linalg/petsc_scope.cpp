// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/petsc_scope.hpp"

#include "physics/linalg/petsc_error.hpp"

namespace lodestone::physics {

PetscScope::PetscScope() {
  linalg::check_petsc(PetscInitializeNoArguments(), "PetscInitialize");
  // PETSc must not print tracebacks or abort: codes come back and become SolverError.
  linalg::check_petsc(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr), "PetscPushErrorHandler");
  linalg::check_petsc(PetscPopSignalHandler(), "PetscPopSignalHandler");
}

PetscScope::~PetscScope() {
  PetscPopErrorHandler();
  PetscFinalize();
}

}  // namespace lodestone::physics
