// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <mpi.h>

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
  /// own state.
  [[nodiscard]] std::string ask(double seconds, const std::string& own);

 private:
  void send(int peer, int kind, const std::string& text) noexcept;
  std::optional<std::string> take(int kind, int& source);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_, size_;
  std::optional<Failure> failure_;
};

}  // namespace lodestone::engine
