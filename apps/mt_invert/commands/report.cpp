// SPDX-License-Identifier: Apache-2.0
#include "io/report/report.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/provenance.hpp"
#include "io/report/survey.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"
#include "io/survey/choices.hpp"
#include "io/survey/read.hpp"

#include <filesystem>

namespace lodestone::mt_invert::commands {
namespace {

std::filesystem::path write_of_run(const cli::ReportArguments& arguments) {
  const io::run::RunFolder folder(arguments.paths.front());
  folder.require_result();
  const auto lock = io::run::lock_finished(folder);
  return io::report::write_report(folder.path(), io::run::read_result(folder.result()), arguments.run);
}

/// Refuses a folder whose own report would be replaced, and a name that is taken by a file.
void check_report_folder(const std::string& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(io::run::RunFolder(folder).result(), ignored))
    throw core::FileError(
        "mt_invert#folder_of_run",
        "{}: expected a folder for the report of a survey, got that of a run, whose report it "
        "would replace; give another name",
        folder);
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    throw core::FileError("mt_invert#not_a_folder",
                          "{}: expected a new folder or one that exists, got a file; give another name",
                          folder);
}

/// Returns the title of a survey, which names its folder or first file.
std::string title_of(const cli::ReportArguments& arguments, std::size_t n_stations) {
  return fmt::format("Survey {}{}: {} station{}", arguments.paths.front(),
                     arguments.paths.size() > 1 ? " and others" : "", n_stations, n_stations == 1 ? "" : "s");
}

std::filesystem::path write_of_survey(const cli::ReportArguments& arguments) {
  check_report_folder(arguments.output_folder);
  std::vector<std::string> files;
  for (const std::string& path : arguments.paths)
    for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
  io::survey::require_taken(files, arguments.read);
  const auto stations = io::survey::read_files(files, arguments.read);
  return io::report::write_survey_report(
      arguments.output_folder, stations, arguments.survey, title_of(arguments, stations.size()),
      fmt::format("Magnetotelluric survey, by Lodestone {}, {}", core::version(), core::utc_now()));
}

}  // namespace

int run_report(MPI_Comm comm, const cli::ReportArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    const auto path = arguments.output_folder.empty() ? write_of_run(arguments) : write_of_survey(arguments);
    core::log::info("report:     {}", path.string());
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
