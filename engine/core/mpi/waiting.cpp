// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace lodestone::core {

void wait_with_pauses(MPI_Request& request) {
  using namespace std::chrono_literals;
  constexpr std::chrono::microseconds longest = 10ms;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  for (std::chrono::microseconds pause = 100us; done == 0; pause = std::min(2 * pause, longest)) {
    std::this_thread::sleep_for(pause);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

void meet_with_pauses(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  wait_with_pauses(request);
}

}  // namespace lodestone::core
