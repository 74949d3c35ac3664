// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/run/folder.hpp"
#include "io/run/paraview_view.hpp"
#include "io/run/result.hpp"

#include <array>

namespace lodestone::mt_invert::commands {

int run_paraview(MPI_Comm comm, const cli::ParaviewArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    const io::run::RunFolder folder(arguments.run_folder);
    folder.require_result();
    const std::string script = arguments.output_path.empty() ? folder.view() : arguments.output_path;
    check_output_path(script, std::array{folder.result()});
    const auto lock = io::run::lock_finished(folder);
    io::run::write_paraview_view(folder, io::run::read_result(folder.result()), script);
    core::log::info("ParaView:   {} (File, Load State; or pvpython {} picture.png)", script, script);
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
