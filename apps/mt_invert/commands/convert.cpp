// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/survey/read.hpp"
#include "io/vtk/survey.hpp"

#include <fmt/ranges.h>

#include <filesystem>

namespace lodestone::mt_invert::commands {
namespace {

/// Refuses an output that exists and is no file or folder of its kind, or would replace what is read.
void check_output(const cli::ConvertArguments& arguments) {
  std::error_code ignored;
  const std::filesystem::path path = arguments.output_path;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (!is_folder) return check_output_path(arguments.output_path, arguments.paths);
  if (!arguments.format || !io::survey::is_of_one_station(*arguments.format))
    throw core::FileError(
        "mt_invert#output_is_folder",
        "{}: expected the name of a file, as one file holds all stations, got a folder; give "
        "another name",
        arguments.output_path);
  if (!std::filesystem::is_empty(path, ignored))
    throw core::FileError("mt_invert#folder_not_empty",
                          "{}: expected a new or an empty folder, got one with files; give another name",
                          arguments.output_path);
}

/// Writes stations in a format and warns of what it has no place for.
void write_as(io::survey::WriteFormat format, const std::vector<physics::mt::StationData>& stations,
              const cli::ConvertArguments& arguments) {
  const io::survey::WriteResult result =
      io::survey::write(arguments.output_path, stations, format, arguments.placing);
  for (const std::string& lost : result.lost)
    core::log::warning(core::log::Id("mt_invert#not_held"), "{} cannot hold: {}", core::word(format), lost);
}

void log_paths(const std::vector<std::string>& paths) {
  core::log::info("ParaView:   {}", fmt::join(paths, ", "));
}

}  // namespace

int run_convert(MPI_Comm comm, const cli::ConvertArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    check_output(arguments);
    std::vector<std::string> files;
    for (const std::string& path : arguments.paths)
      for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
    const auto stations = io::survey::edited(io::survey::read_files(files, arguments.read), arguments.edits);
    if (arguments.format)
      write_as(*arguments.format, stations, arguments);
    else
      log_paths(io::vtk::write_survey(arguments.output_path, stations, arguments.placing.line));
    core::log::info("wrote {} stations of {} files to {}", stations.size(), files.size(),
                    arguments.output_path);
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
