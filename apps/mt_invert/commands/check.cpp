// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/check.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/survey/read.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lodestone::mt_invert::commands {
namespace {

using physics::mt::Finding;
using physics::mt::Severity;

constexpr int exit_with_warnings = 13, exit_with_errors = 14;  // of docs/command-line.md

std::ptrdiff_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return std::ranges::count(findings, severity, &Finding::severity);
}

std::string text_of(const std::vector<Finding>& findings, std::size_t n_stations) {
  std::string text;
  for (const Finding& each : findings) {
    text += fmt::format("{} {}: {} [{}]\n", core::word(each.severity), each.station, each.text, each.id);
    if (!each.remedy.empty()) text += fmt::format("        {}\n", each.remedy);
  }
  return text + fmt::format("{} stations: {} errors, {} warnings, {} notes\n", n_stations,
                            count_of(findings, Severity::error), count_of(findings, Severity::warning),
                            count_of(findings, Severity::note));
}

std::string json_of(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& each : findings)
    list.push_back({{"severity", core::word(each.severity)},
                    {"id", each.id},
                    {"station", each.station},
                    {"place", each.place},
                    {"text", each.text},
                    {"remedy", each.remedy}});
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_check(MPI_Comm comm, const cli::CheckArguments& arguments) {
  std::vector<std::string> files;
  for (const std::string& path : arguments.paths)
    for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
  const auto stations = io::survey::read_files(files, arguments.read);
  const std::vector<Finding> findings = physics::mt::check(stations);
  core::on_rank_zero(comm, [&] {
    core::log::print_out(arguments.json ? json_of(findings) : text_of(findings, stations.size()));
  });
  if (count_of(findings, Severity::error) > 0) return exit_with_errors;
  if (count_of(findings, Severity::warning) > 0) return exit_with_warnings;
  return 0;
}

}  // namespace lodestone::mt_invert::commands
