// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/method/run_results.hpp"
#include "engine/core/error.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/run/folder.hpp"

namespace lodestone::mt_invert::commands {

int run_report(MPI_Comm comm, const cli::ReportArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    const io::run::RunFolder folder(arguments.run_folder);
    if (!std::filesystem::exists(folder.result())) {
      throw core::FileError(
          "mt_invert",
          "{}: expected the result of a finished run, got none; give the folder of a run (-o of invert)",
          folder.result());
    }
    method::write_report_of(folder.path(), io::run::read_result(folder.result()));
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
