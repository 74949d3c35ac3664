// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <chrono>
#include <optional>

namespace lodestone::core {

/// A reason to stop that comes from outside the program.
enum class StopRequest { interrupted, time_limit };

/// Turns SIGINT, SIGTERM, SIGUSR1 and SIGUSR2 and a time limit into a clean stop after the running iteration;
/// restores the handlers at its end.
///
/// A second SIGINT ends the process at once. Open MPI's mpirun passes SIGUSR1 and SIGUSR2 on to the ranks,
/// which is why they count.
class StopRequests {
 public:
  explicit StopRequests(MPI_Comm comm, std::optional<double> time_limit_min = {});
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// Returns the same answer on every rank. The time limit counts as reached when one more iteration, as long
  /// as the longest so far, would pass it. collective.
  [[nodiscard]] std::optional<StopRequest> operator()();

 private:
  using Clock = std::chrono::steady_clock;
  MPI_Comm comm_;
  std::optional<double> limit_s_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  double longest_s_ = 0.0;
};

}  // namespace lodestone::core
