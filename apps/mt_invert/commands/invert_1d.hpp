// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"
#include "apps/mt_invert/config/config.hpp"
#include "io/run/folder.hpp"

#include <mpi.h>

namespace lodestone::mt_invert::commands {

/// The section of layered earths, one under each station, with the files of a 2-D run. returns: the exit
/// code. collective.
[[nodiscard]] int run_invert_1d(MPI_Comm comm, const config::Config& config, const io::run::RunFolder& folder,
                                const cli::CommandLine& line);

}  // namespace lodestone::mt_invert::commands
