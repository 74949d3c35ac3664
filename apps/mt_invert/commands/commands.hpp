// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"

#include <mpi.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

/// One function per subcommand; each returns an exit code of the contract and throws core::Error otherwise.
/// collective: all.
namespace lodestone::mt_invert::commands {

/// Sets up log and trace, then runs the command.
[[nodiscard]] int run(MPI_Comm comm, const cli::CommandLine& line);

[[nodiscard]] int run_invert(MPI_Comm comm, const cli::InvertArguments& arguments,
                             const cli::CommandLine& line);
[[nodiscard]] int run_train(MPI_Comm comm, const cli::TrainArguments& arguments,
                            const cli::CommandLine& line);
[[nodiscard]] int run_forward(MPI_Comm comm, const cli::ForwardArguments& arguments,
                              const cli::CommandLine& line);
[[nodiscard]] int run_report(MPI_Comm comm, const cli::ReportArguments& arguments);
[[nodiscard]] int run_compare(MPI_Comm comm, const cli::CompareArguments& arguments);
[[nodiscard]] int run_inspect(MPI_Comm comm, const cli::InspectArguments& arguments);
[[nodiscard]] int run_info(MPI_Comm comm, const cli::InfoArguments& arguments);
[[nodiscard]] int run_check(MPI_Comm comm, const cli::CheckArguments& arguments);
[[nodiscard]] int run_convert(MPI_Comm comm, const cli::ConvertArguments& arguments);
[[nodiscard]] int run_paraview(MPI_Comm comm, const cli::ParaviewArguments& arguments);
[[nodiscard]] int run_machine(MPI_Comm comm, const cli::MachineArguments& arguments);
[[nodiscard]] int run_selftest(MPI_Comm comm, const cli::SelftestArguments& arguments);

/// Returns what a dry run is asked for. errors: those of `engine::rates_for_threads`.
[[nodiscard]] engine::DryRunOptions dry_run_options(const cli::TimesArguments& times);
/// Returns the files, or folders of runs, that are compared.
[[nodiscard]] std::vector<std::string> files_of(const cli::CompareArguments& arguments);
/// Refuses a path that cannot become a file. errors: FileError when it is something else than a regular file,
/// its folder is missing, or it is one of the files that are read.
void check_output_path(const std::string& path, std::span<const std::string> inputs = {});

/// Returns the folder of a run: the given one, or without one out/ and the name of the configuration.
[[nodiscard]] std::filesystem::path output_folder(const std::string& given, const std::string& config_path);
/// Writes a configuration into the folder of its run, below a comment that starts with what it holds. errors:
/// FileError.
void write_configuration(const std::string& path, const std::string& what, const std::string& config_path,
                         const std::string& toml);

}  // namespace lodestone::mt_invert::commands
