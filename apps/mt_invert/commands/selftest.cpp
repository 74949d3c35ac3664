// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/commands/study.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/options.hpp"

#include <algorithm>
#include <ctime>

namespace lodestone::mt_invert::commands {
namespace {

using selftest::Selftest;

/// Adds the study of priors to the benchmarks.
std::vector<Selftest> all_selftests(const cli::StudyArguments& study) {
  std::vector<Selftest> all = selftest::selftests();
  all.push_back(
      {"vae-synthetic",
       "inversions in cells, with a Gaussian and with a learned prior; by name only, takes minutes",
       [study](MPI_Comm comm, physics::mt::d2::Accuracy) { return selftest_vae_synthetic(comm, study); },
       true});
  return all;
}

/// Returns the benchmarks of these names; without names, all that take seconds. errors: ConfigError.
std::vector<Selftest> chosen(std::vector<Selftest> all, const std::vector<std::string>& names) {
  if (names.empty()) {
    std::erase_if(all, [](const Selftest& test) { return test.by_name_only; });
    return all;
  }
  std::vector<std::string> known;
  for (const Selftest& test : all) known.push_back(test.name);
  std::vector<Selftest> result;
  for (const auto& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      const auto near = core::nearest_word(name, known);
      throw core::ConfigError(
          "mt_invert#unknown_selftest", "no selftest is called \"{}\"; {}", name,
          near ? fmt::format("did you mean \"{}\"?", *near) : std::string("see mt_invert selftest --list"));
    }
    result.push_back(all[static_cast<std::size_t>(found - known.begin())]);
  }
  return result;
}

}  // namespace

int run_selftest(MPI_Comm comm, const cli::SelftestArguments& arguments) {
  const std::vector<Selftest> all = all_selftests(arguments.study), tests = chosen(all, arguments.names);
  if (arguments.list) {
    core::on_rank_zero(comm, [&] {
      for (const Selftest& test : arguments.names.empty() ? all : tests)
        core::log::print_out(fmt::format("{:<14} {}\n", test.name, test.description));
    });
    return 0;
  }
  if (!arguments.json_path.empty()) core::on_rank_zero(comm, [&] { check_output_path(arguments.json_path); });
  const core::Provenance provenance = core::make_provenance(core::size_of(comm));
  std::vector<selftest::SelftestResult> results;
  for (const auto& test : tests) {
    const std::clock_t begin = std::clock();
    selftest::SelftestReport report = test.run(comm, arguments.accuracy);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    core::on_rank_zero(comm, [&] { core::log::print_out(selftest_table(test, report)); });
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

}  // namespace lodestone::mt_invert::commands
