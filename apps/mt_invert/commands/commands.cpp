// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/chrome_trace.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/parallel.hpp"
#include "engine/inspect/monitor.hpp"

#include <csignal>
#include <filesystem>

namespace lodestone::mt_invert::commands {
namespace {

/// Calls the function of the chosen command.
struct Dispatch {
  MPI_Comm comm;
  const cli::CommandLine& line;
  int operator()(const cli::ShowText& show) const {
    core::on_rank_zero(comm, [&] { core::log::print_out(show.text); });
    return 0;
  }
  int operator()(const cli::InvertArguments& arguments) const { return run_invert(comm, arguments, line); }
  int operator()(const cli::TrainArguments& arguments) const { return run_train(comm, arguments, line); }
  int operator()(const cli::ForwardArguments& arguments) const { return run_forward(comm, arguments, line); }
  int operator()(const cli::ReportArguments& arguments) const { return run_report(comm, arguments); }
  int operator()(const cli::CompareArguments& arguments) const { return run_compare(comm, arguments); }
  int operator()(const cli::InspectArguments& arguments) const { return run_inspect(comm, arguments); }
  int operator()(const cli::InfoArguments& arguments) const { return run_info(comm, arguments); }
  int operator()(const cli::CheckArguments& arguments) const { return run_check(comm, arguments); }
  int operator()(const cli::ConvertArguments& arguments) const { return run_convert(comm, arguments); }
  int operator()(const cli::ParaviewArguments& arguments) const { return run_paraview(comm, arguments); }
  int operator()(const cli::MachineArguments& arguments) const { return run_machine(comm, arguments); }
  int operator()(const cli::SelftestArguments& arguments) const { return run_selftest(comm, arguments); }
};

/// Returns the files that a command names on its line to read.
struct InputFiles {
  using Paths = std::vector<std::string>;
  Paths operator()(const cli::ShowText&) const { return {}; }
  Paths operator()(const cli::InvertArguments& arguments) const { return {arguments.config_path}; }
  Paths operator()(const cli::TrainArguments& arguments) const {
    return {arguments.config_path, arguments.times.machine_path};
  }
  Paths operator()(const cli::ForwardArguments& arguments) const {
    return {arguments.model_path, arguments.sites_path};
  }
  Paths operator()(const cli::ReportArguments& arguments) const {
    return arguments.output_folder.empty() ? Paths{} : arguments.paths;
  }
  Paths operator()(const cli::CompareArguments& arguments) const { return files_of(arguments); }
  Paths operator()(const cli::InspectArguments& arguments) const {
    return {arguments.path, arguments.network_path, arguments.checkpoint_path, arguments.other_path,
            arguments.times.machine_path};
  }
  Paths operator()(const cli::InfoArguments& arguments) const { return arguments.paths; }
  Paths operator()(const cli::CheckArguments& arguments) const { return arguments.paths; }
  Paths operator()(const cli::ConvertArguments& arguments) const { return arguments.paths; }
  Paths operator()(const cli::ParaviewArguments&) const { return {}; }
  Paths operator()(const cli::MachineArguments&) const { return {}; }
  Paths operator()(const cli::SelftestArguments&) const { return {}; }
};

}  // namespace

std::vector<std::string> files_of(const cli::CompareArguments& arguments) {
  std::vector<std::string> paths = arguments.what.sections;
  paths.insert(paths.end(), arguments.what.references.begin(), arguments.what.references.end());
  return paths;
}

void check_output_path(const std::string& path, std::span<const std::string> inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(path, input, ignored))
      throw core::FileError("mt_invert#output_is_input",
                            "{}: expected the name of a file to write, got that of a file that is read; give "
                            "another name",
                            path);
  }
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw core::FileError("mt_invert#not_a_file",
                          "{}: expected the name of a file to write, got that of a {}; give another name",
                          path, std::filesystem::is_directory(status) ? "folder" : "device, pipe or socket");
  }
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    const bool is_taken = std::filesystem::exists(folder, ignored);
    throw core::FileError(
        "mt_invert#no_folder", "{}: expected the name of a file in a folder that exists, but {} {}", path,
        folder.string(),
        is_taken ? "is a file; give another name" : "does not exist; make this folder, or give another name");
  }
}

std::filesystem::path output_folder(const std::string& given, const std::string& config_path) {
  return given.empty() ? "out" / std::filesystem::path(config_path).stem() : std::filesystem::path(given);
}

void write_configuration(const std::string& path, const std::string& what, const std::string& config_path,
                         const std::string& toml) {
  core::write_file(path, fmt::format("# {} Paths are relative to the folder of {}.\n{}", what,
                                     std::filesystem::path(config_path).filename().string(), toml));
}

int run(MPI_Comm comm, const cli::CommandLine& line) {
  // A file beyond the size limit must come back as an error of `write`, not end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  core::log::configure({.format = line.log_format()});
  if (line.n_threads) core::set_threads(*line.n_threads);
  engine::Monitor::open_if_asked(core::rank_of(comm));
  if (line.trace_path.empty()) return std::visit(Dispatch{comm, line}, line.command);
  check_output_path(line.trace_path, std::visit(InputFiles(), line.command));
  int code = 0;
  core::traced(line.trace_path, core::rank_of(comm), [&] {
    code = std::visit(Dispatch{comm, line}, line.command);
  });
  return code;
}

}  // namespace lodestone::mt_invert::commands
