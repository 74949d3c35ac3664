// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/check.hpp"

#include "apps/mt_invert/commands/check_report.hpp"
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/survey/choices.hpp"
#include "io/survey/lines.hpp"
#include "io/survey/read.hpp"
#include "io/survey/store.hpp"
#include "io/text/counted.hpp"
#include "physics/mt/analysis/strike_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace lodestone::mt_invert::commands {
namespace {

using io::text::counted;
using physics::mt::Finding;
using physics::mt::Severity;
using physics::mt::StrikeBand;

constexpr int exit_with_warnings = 13, exit_with_errors = 14;  // of docs/command-line.md

/// Files that could not be read: a finding on each, and whether all of them are files of stations.
struct Unread {
  std::vector<Finding> findings;
  bool all_hold_stations = true;

  void add(const std::string& path, const core::Error& error) {
    const physics::mt::FindingRule& rule = rule_of(physics::mt::FindingKind::unreadable_file);
    findings.push_back({rule.severity, rule.id, std::filesystem::path(path).filename().string(), path,
                        fmt::format("was skipped: {}", error.what()), rule.remedy});
    all_hold_stations &= error.exit_code() == core::ExitCode::format && error.id() != "not_read" &&
                         error.id() != "not_stations";
  }
};

/// Reads what can be read. Where nothing can, damaged files of stations are findings alone. errors: those of
/// `read_files` where some file is of another kind, or missing.
std::vector<physics::mt::StationData> read_what_can_be_read(const std::vector<std::string>& files,
                                                            const cli::CheckArguments& arguments,
                                                            Unread& unread) {
  io::survey::ReadOptions options = arguments.read;
  options.keeps_masked_stations = !arguments.mended_path.empty();  // which they go back into
  try {
    return io::survey::read_files(
        files, options, [&](const std::string& path, const core::Error& error) { unread.add(path, error); });
  } catch (const core::Error& error) {
    const bool is_told = error.id() == "nothing_readable" && unread.all_hold_stations;
    if (!is_told || !arguments.mended_path.empty()) throw;
    return {};
  }
}

/// Takes the stations whose values are all masked out of the others, as they have nothing to check.
std::vector<physics::mt::StationData> taken_masked(std::vector<physics::mt::StationData>& stations) {
  const auto masked = std::ranges::stable_partition(
      stations, [](const auto& each) { return each.has_value() || each.n_masked() == 0; });
  std::vector<physics::mt::StationData> out(std::make_move_iterator(masked.begin()),
                                            std::make_move_iterator(masked.end()));
  stations.erase(masked.begin(), masked.end());
  return out;
}

}  // namespace

int run_check(MPI_Comm comm, const cli::CheckArguments& arguments) {
  if (!arguments.mended_path.empty())
    core::on_rank_zero(comm, [&] { check_output_path(arguments.mended_path, arguments.paths); });
  std::vector<std::string> files;
  for (const std::string& path : arguments.paths)
    for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
  io::survey::require_taken(files, arguments.read);
  Unread unread;
  auto stations = read_what_can_be_read(files, arguments, unread);
  auto masked = taken_masked(stations);
  std::vector<Finding> findings = std::move(unread.findings);
  std::ranges::move(physics::mt::check(stations), std::back_inserter(findings));
  core::on_rank_zero(comm, [&] {
    io::survey::add_lines(findings, stations);
    const std::vector<StrikeBand> bands = physics::mt::strike_bands(stations);
    const auto soundings = physics::mt::sounding_bands(stations);
    core::log::print_out(arguments.json
                             ? json_of(findings, bands, soundings)
                             : text_of(findings, stations.size()) + text_of(bands) + text_of(soundings));
    if (arguments.mended_path.empty()) return;
    const int n = physics::mt::mend(stations, findings);
    std::ranges::move(masked, std::back_inserter(stations));
    io::survey::write_survey(arguments.mended_path, stations);
    if (!arguments.json)  // of which the output is nothing but JSON
      core::log::print_out(fmt::format("\n{} {} mended in {}\n",
                                       counted(static_cast<std::size_t>(n), "finding"), n == 1 ? "is" : "are",
                                       arguments.mended_path));
  });
  if (count_of(findings, Severity::error) > 0) return exit_with_errors;
  if (count_of(findings, Severity::warning) > 0) return exit_with_warnings;
  return 0;
}

}  // namespace lodestone::mt_invert::commands
