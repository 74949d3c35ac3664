// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/parallel.hpp"
#include "engine/inspect/rates_file.hpp"

#include <memory>

namespace lodestone::mt_invert::commands {

engine::DryRunOptions dry_run_options(const cli::TimesArguments& times) {
  engine::DryRunOptions options;
  if (!times.machine_path.empty()) {
    options.times = engine::Times::rates;
    options.machine = std::make_shared<const engine::MachineRates>(
        engine::rates_for_threads(times.machine_path, core::threads()));
  }
  if (times.source) options.times = *times.source;
  return options;
}

int run_machine(MPI_Comm comm, const cli::MachineArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    const std::string& path = arguments.output_path;
    if (!path.empty()) check_output_path(path);
    const engine::MachineRates rates =
        engine::rates_of_this_machine(arguments.again ? engine::Kept::replaced : engine::Kept::used);
    if (!path.empty()) engine::write_rates(path, rates);
    core::log::print_out(rates.text() + (path.empty() ? "" : fmt::format("written: {}\n", path)));
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
