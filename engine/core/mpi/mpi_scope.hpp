// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/session.hpp"

#include <mpi.h>

#include <functional>

namespace lodestone::core {

/// MPI from `MPI_Init_thread(MPI_THREAD_MULTIPLE)` to `MPI_Finalize`. Starts fast as a singleton (no `orted`
/// child). Ranks other than 0 keep their log silent from here on; `core::threads()` becomes
/// `default_threads`.
class MpiScope final : public SubsystemScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope() override;
  /// Waits a short while for the other ranks to fail as well. One message that several share is printed once,
  /// also where others have it from the rank that failed (`of_rank`). A failure of one rank names it.
  std::string agree_on_failure(std::string message) noexcept override;
  /// `MPI_Abort` unless every rank failed (then all end in the normal way with their exit codes).
  void abort(int exit_code) noexcept override;

  [[nodiscard]] MPI_Comm world() const { return MPI_COMM_WORLD; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int thread_level() const { return thread_level_; }  ///< level granted by the library

 private:
  int rank_ = 0, size_ = 1, thread_level_ = 0;
  MPI_Comm failures_ = MPI_COMM_NULL;  ///< apart from the traffic of the program
  bool all_failed_ = false;
};

/// Returns a message with the rank that it is from: "rank 1 of 2: …"; alone, the message.
[[nodiscard]] std::string of_rank(int rank, int size, const std::string& message);

/// Makes `MPI_Abort` the end of a program that fails, even if every rank does: messages are on their way that
/// MPI would wait for.
void abort_after_failure() noexcept;

/// Runs `body` with all ranks between the start and the end of MPI, and returns its exit code. An exception
/// becomes a message on stderr and its exit code, as `Session::run` does it: the whole `main` of a program.
[[nodiscard]] int mpi_program(int argc, char** argv, const std::function<int(MPI_Comm comm)>& body);

}  // namespace lodestone::core
