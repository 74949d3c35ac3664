// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: objects of PETSc and the lock around its calls.
#pragma once

#include "physics/linalg/petsc_error.hpp"

#include <petscmat.h>

#include <mutex>
#include <string_view>
#include <utility>

namespace lodestone::physics::linalg {

/// PETSc counts and logs what it does in variables of the process, so that its calls must not overlap.
using PetscLock = std::scoped_lock<std::recursive_mutex>;
inline std::recursive_mutex& petsc_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Checks that PETSc runs. errors: SolverError from this place.
inline void require_petsc(std::string_view place) {
  PetscBool is_up = PETSC_FALSE;
  PetscInitialized(&is_up);
  if (!is_up)
    throw core::SolverError(place, "PETSc is not running; hand a physics::PetscScope to core::Session first");
}

/// Owns one PETSc object; destroyed before PetscFinalize because simulations die before the session.
template <class Handle, PetscErrorCode (*destroy)(Handle*)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ == nullptr) return;
    const PetscLock lock(petsc_mutex());
    destroy(&handle_);
  }
  operator Handle() const { return handle_; }
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};
using OwnedMat = Owned<Mat, MatDestroy>;

}  // namespace lodestone::physics::linalg
