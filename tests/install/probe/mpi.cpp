// SPDX-License-Identifier: Apache-2.0
// Component mpi: MPI from beginning to end, one reduction.
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/mpi_scope.hpp"

using namespace lodestone;

int main(int argc, char** argv) {
  core::Session session;
  auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] { return core::rank_of(mpi.world()) < core::size_of(mpi.world()) ? 0 : 1; });
}
