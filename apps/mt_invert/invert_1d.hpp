// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/command_line.hpp"
#include "apps/mt_invert/config.hpp"
#include "apps/mt_invert/run_folder.hpp"

#include <mpi.h>

namespace lodestone::mt_invert {

/// The section of layered earths, one under each station, with the files of a 2-D run. returns: the exit
/// code. collective.
[[nodiscard]] int run_invert_1d(MPI_Comm comm, const Config& config, const RunFolder& folder,
                                const CommandLine& line);

}  // namespace lodestone::mt_invert
