// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the only folder that includes PETSc.
#pragma once

#include "engine/core/error.hpp"

#include <petscsys.h>

#include <string_view>

namespace lodestone::physics::linalg {

static_assert(sizeof(PetscScalar) == 2 * sizeof(double),
              "PETSc with complex double scalars is needed (Debian: libpetsc-complex-dev)");

/// The one place where PETSc's error codes become SolverError, with PETSc's own text.
inline void check_petsc(PetscErrorCode code, std::string_view what) {
  if (code == 0) return;
  const char* text = nullptr;
  char* specific = nullptr;
  PetscErrorMessage(code, &text, &specific);
  throw core::SolverError("linalg", "{} failed: {} {}", what, text != nullptr ? text : "unknown PETSc error",
                          specific != nullptr ? specific : "");
}

}  // namespace lodestone::physics::linalg
