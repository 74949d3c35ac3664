// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the only folder that includes PETSc.
// Small on purpose: keeps the headers of PETSc out of all other headers.
#pragma once

#include "engine/core/error.hpp"

#include <petscsys.h>

#include <string_view>

namespace lodestone::physics::linalg {

static_assert(sizeof(PetscScalar) == 2 * sizeof(double),
              "PETSc with complex double scalars is needed (Debian: libpetsc-complex-dev)");

/// Throws SolverError with PETSc's own text for an error code of PETSc.
inline void check_petsc(PetscErrorCode code, std::string_view what) {
  if (code == 0) return;
  const char* text = nullptr;
  char* specific = nullptr;
  PetscErrorMessage(code, &text, &specific);
  throw core::SolverError("linalg#petsc_failed", "{} failed: {} {}", what,
                          text != nullptr ? text : "unknown PETSc error",
                          specific != nullptr ? specific : "");
}

}  // namespace lodestone::physics::linalg
