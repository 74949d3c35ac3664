// SPDX-License-Identifier: Apache-2.0
#include "io/report/report.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"

namespace lodestone::mt_invert::commands {

int run_report(MPI_Comm comm, const cli::ReportArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    const io::run::RunFolder folder(arguments.run_folder);
    folder.require_result();
    const auto lock = io::run::lock_finished(folder);
    const auto path =
        io::report::write_report(folder.path(), io::run::read_result(folder.result()), arguments.slices);
    core::log::info("report:     {}", path.string());
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
