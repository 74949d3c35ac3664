// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <mpi.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace lodestone::engine {

/// The channel of a world beside its messages: failures, and questions of ranks that have waited for long.
class MpiControl {
 public:
  /// Copies the communicator. collective.
  explicit MpiControl(MPI_Comm comm);
  ~MpiControl();
  MpiControl(const MpiControl&) = delete;
  MpiControl& operator=(const MpiControl&) = delete;

  /// Returns the first failure that this rank has told or heard of.
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  /// Tells a failure to all other ranks.
  void tell(const Failure& failure) noexcept;
  /// Takes what others have told or asked. `state`: returns what this rank does, the answer.
  void listen(const std::function<std::string()>& state);
  /// Asks all other ranks what they do, and gathers answers for a while. Returns one line of all, with the
  /// own state. Of ranks that ask at once the lowest one tells, the others wait for it. errors: the failure
  /// that another rank tells meanwhile.
  [[nodiscard]] std::string ask(double seconds, const std::string& own);

 private:
  using Clock = std::chrono::steady_clock;

  void send(int peer, int kind, const std::string& text) noexcept;
  std::optional<std::string> take(int kind, int& source);
  /// Listens until a condition holds or time is over; throws what others tell.
  void listen_until(Clock::time_point end, const std::string& own, const std::function<bool()>& is_enough);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_, size_;
  std::optional<Failure> failure_;
  Clock::time_point lower_asked_{};  ///< when a rank before this one last asked
};

}  // namespace lodestone::engine
