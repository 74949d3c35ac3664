// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"

namespace lodestone::mt_invert::commands {

int run_compare(MPI_Comm comm, const cli::CompareArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    if (!arguments.output_path.empty()) check_output_path(arguments.output_path, files_of(arguments));
    core::log::print_out(io::run::compare_sections(arguments.what, arguments.output_path));
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
