// SPDX-License-Identifier: Apache-2.0
// Small on purpose: programs include it without the headers of PETSc.
#pragma once

#include "engine/core/session.hpp"

namespace lodestone::physics {

/// PETSc from initialization to finalization; MPI must be up already. Command-line arguments are not handed
/// to PETSc (use PETSC_OPTIONS).
class PetscScope final : public core::SubsystemScope {
 public:
  PetscScope();
  ~PetscScope() override;
};

}  // namespace lodestone::physics
