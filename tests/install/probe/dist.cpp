// SPDX-License-Identifier: Apache-2.0
// Component dist: a sum over the ranks of a world.
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/ops/ops.hpp"

using namespace lodestone;
using namespace lodestone::engine;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    double total = 0.0;
    int n = 0;
    with_mpi_world(comm, [&](const World& world) {
      n = world->size();
      const GroupPtr all = group_of(world, DeviceMesh({{"data", n}}), {"data"});
      total = all_reduce(ones({}, DType::f64), all).to_vector<double>()[0];
    });
    return total == n ? 0 : 1;
  });
}
