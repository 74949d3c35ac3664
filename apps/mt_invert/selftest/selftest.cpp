// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"

#include "apps/mt_invert/commands/forward_output.hpp"
#include "apps/mt_invert/selftest/json.hpp"
#include "apps/mt_invert/study/study.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/options.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace lodestone::mt_invert::selftest {
namespace {

std::string table_of(const Selftest& test, const SelftestReport& report) {
  std::string text = fmt::format("{}: {}\n{}{}", test.name, test.description,
                                 report.tables.empty() ? "" : "\n", report.tables);
  text +=
      fmt::format("  {:<42} {:>14} {:>14} {:>12} {:>10}\n", "", "reference", "ours", "difference", "limit");
  for (const auto& row : report.rows) {
    text += fmt::format("  {:<42} {:>14.7g} {:>14.7g} {:>10.2e}{:>2} {:>8.2g}{:>2}  {}\n", row.what,
                        row.reference, row.ours, row.difference, row.difference_units, row.limit,
                        row.difference_units,
                        !row.judged    ? "not judged"
                        : row.passed() ? "pass"
                                       : "FAIL");
  }
  if (!report.note.empty()) text += fmt::format("  {}\n", report.note);
  const auto judged = std::ranges::count_if(report.rows, &SelftestRow::judged);
  const auto failed =
      std::ranges::count_if(report.rows, [](const auto& row) { return row.judged && !row.passed(); });
  return text + fmt::format("  {}: {} of {} comparisons pass\n\n", report.passed() ? "pass" : "FAIL",
                            judged - failed, judged);
}

Selftest commemi(const std::string& name, std::string description) {
  return {name, std::move(description), [name](MPI_Comm comm, const SelftestOptions& options) {
            return selftest_commemi(comm, options, name);
          }};
}

constexpr const char* vae_synthetic = "vae-synthetic";

std::vector<Selftest> chosen(const std::vector<std::string>& names) {
  std::vector<Selftest> usual;
  std::ranges::copy_if(selftests(), std::back_inserter(usual),
                       [](const Selftest& test) { return !test.by_name_only; });
  if (names.empty()) return usual;
  std::vector<std::string> known;
  for (const auto& test : selftests()) known.push_back(test.name);
  std::vector<Selftest> result;
  for (const auto& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      const auto near = core::nearest_word(name, known);
      throw core::ConfigError(
          "mt_invert", "no selftest is called \"{}\"; {}", name,
          near ? fmt::format("did you mean \"{}\"?", *near) : std::string("see mt_invert selftest --list"));
    }
    result.push_back(selftests()[static_cast<std::size_t>(found - known.begin())]);
  }
  return result;
}

}  // namespace

bool SelftestRow::passed() const { return std::abs(difference) <= limit; }
bool SelftestReport::passed() const {
  return !rows.empty() &&
         std::ranges::all_of(rows, [](const auto& row) { return !row.judged || row.passed(); });
}

const std::vector<Selftest>& selftests() {
  static const std::vector<Selftest> all{
      {"layered1d", "four layered earths against the closed form",
       [](MPI_Comm, const SelftestOptions&) { return selftest_layered(); }},
      commemi("commemi2d0", "COMMEMI 2D-0: three segments on a perfect conductor"),
      commemi("commemi2d1", "COMMEMI 2D-1: a conductive block"),
      commemi("commemi2d2", "COMMEMI 2D-2: two deep conductive bodies"),
      commemi("commemi2d4", "COMMEMI 2D-4: a basin with a sloping floor, from a polygon model"),
      commemi("wannamaker_hill", "a trapezoidal hill, horizontal and slope-parallel fields"),
      {"sensitivity2d", "region sums of the Jacobian of COMMEMI 2D-1", selftest_sensitivity},
      {"derivatives2d", "Taylor and adjoint test of the 2-D simulation, hill included",
       [](MPI_Comm comm, const SelftestOptions&) { return selftest_derivatives(comm); }},
      {vae_synthetic,
       "inversions in cells, with a Gaussian and with a learned prior; by name only, takes minutes",
       [](MPI_Comm comm, const SelftestOptions& options) {
         return study::selftest_vae_synthetic(comm, options.synthetic);
       },
       true},
  };
  return all;
}

int run_selftest(MPI_Comm comm, const cli::SelftestArguments& arguments, const cli::CommandLine& line) {
  const auto tests = chosen(arguments.names);
  if (arguments.list) {
    core::on_rank_zero(comm, [&] {
      for (const auto& test : arguments.names.empty() ? selftests() : tests)
        core::log::print_out(fmt::format("{:<14} {}\n", test.name, test.description));
    });
    return 0;
  }
  if (!arguments.json_path.empty())
    core::on_rank_zero(comm, [&] { commands::check_output_path(arguments.json_path); });
  const io::run::Provenance provenance = io::run::make_provenance(line.as_typed, core::size_of(comm));
  std::vector<SelftestResult> results;
  for (const auto& test : tests) {
    const std::clock_t begin = std::clock();
    SelftestReport report =
        test.run(comm, {.accuracy = arguments.accuracy, .synthetic = arguments.synthetic});
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    core::on_rank_zero(comm, [&] { core::log::print_out(table_of(test, report)); });
    results.push_back({test.name, std::move(report), seconds});
  }
  const auto failed =
      std::ranges::count_if(results, [](const auto& result) { return !result.report.passed(); });
  core::on_rank_zero(comm, [&] {
    core::log::print_out(
        fmt::format("selftest: {} of {} pass\n", static_cast<long>(tests.size()) - failed, tests.size()));
    if (!arguments.json_path.empty())
      core::write_file(arguments.json_path, selftest_json(provenance, arguments.accuracy, results));
  });
  return static_cast<int>(failed == 0 ? core::ExitCode::ok : core::ExitCode::selftest_failed);
}

}  // namespace lodestone::mt_invert::selftest
