// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/session.hpp"

#include <mpi.h>

namespace lodestone::core {

/// MPI from `MPI_Init_thread(MPI_THREAD_MULTIPLE)` to `MPI_Finalize`. Starts fast as a singleton (no `orted` child).
class MpiScope final : public SubsystemScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope() override;
  void abort(int exit_code) noexcept override;

  [[nodiscard]] MPI_Comm world() const { return MPI_COMM_WORLD; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int thread_level() const { return thread_level_; }  ///< level granted by the library

 private:
  int rank_ = 0, size_ = 1, thread_level_ = 0;
};

}  // namespace lodestone::core
