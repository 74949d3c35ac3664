// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/command_line.hpp"

#include <mpi.h>

/// One function per subcommand; each returns an exit code of the contract and throws core::Error otherwise.
/// collective: all.
namespace lodestone::mt_invert {

/// Sets up log and trace, then runs the command.
[[nodiscard]] int run(MPI_Comm comm, const CommandLine& line);

[[nodiscard]] int run_invert(MPI_Comm comm, const InvertArguments& arguments, const CommandLine& line);
[[nodiscard]] int run_train(MPI_Comm comm, const TrainArguments& arguments, const CommandLine& line);
[[nodiscard]] int run_forward(MPI_Comm comm, const ForwardArguments& arguments);
[[nodiscard]] int run_report(MPI_Comm comm, const ReportArguments& arguments);
[[nodiscard]] int run_compare(MPI_Comm comm, const CompareArguments& arguments);
[[nodiscard]] int run_info(MPI_Comm comm, const InfoArguments& arguments);
[[nodiscard]] int run_selftest(MPI_Comm comm, const SelftestArguments& arguments, const CommandLine& line);

}  // namespace lodestone::mt_invert
