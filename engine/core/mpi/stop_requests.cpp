// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/stop_requests.hpp"

#include "engine/core/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace lodestone::core {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
volatile std::sig_atomic_t requested = 0;

void on_signal(int number) {
  if (number == SIGINT && requested != 0) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  requested = 1;
}

}  // namespace

StopRequests::StopRequests(MPI_Comm comm, std::optional<double> time_limit_min) : comm_(comm) {
  if (time_limit_min) limit_s_ = 60.0 * *time_limit_min;
  requested = 0;
  for (const int number : signals) std::signal(number, on_signal);
}

StopRequests::~StopRequests() {
  for (const int number : signals) std::signal(number, SIG_DFL);
}

std::optional<StopRequest> StopRequests::operator()() {
  const auto now = Clock::now();
  const auto seconds = [](Clock::duration span) { return std::chrono::duration<double>(span).count(); };
  longest_s_ = std::max(longest_s_, seconds(now - last_));
  last_ = now;
  const bool late = limit_s_ && seconds(now - start_) + longest_s_ > *limit_s_;
  if (any_rank(comm_, requested != 0)) return StopRequest::interrupted;
  if (any_rank(comm_, late)) return StopRequest::time_limit;
  return {};
}

}  // namespace lodestone::core
