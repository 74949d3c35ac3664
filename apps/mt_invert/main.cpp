// SPDX-License-Identifier: Apache-2.0
// mt_invert: a resistivity section or volume from magnetotelluric soundings.
//
// Sample runs: mt_invert invert CONFIG.toml
//              mpirun -n 2 mt_invert invert CONFIG.toml -o out/run
//              mt_invert forward --model section.toml --sites sites.csv --periods 1,10,100 -o responses.csv
#include "apps/mt_invert/cli/command_line.hpp"
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/session.hpp"
#include "physics/linalg/petsc_scope.hpp"

using namespace lodestone;

int main(int argc, char** argv) {
  core::Session session;
  auto& mpi = session.start<core::MpiScope>(argc, argv);
  session.start<physics::PetscScope>();

  return session.run([&] {
    const auto line = mt_invert::cli::parse_command_line(argc, argv);
    return mt_invert::commands::run(mpi.world(), line);
  });
}
