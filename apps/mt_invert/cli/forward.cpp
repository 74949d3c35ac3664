// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"
#include "physics/mt/ranges.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* forward_examples = R"(Examples:
  mt_invert forward --model section.toml --sites sites.csv --periods 0.1,1,10 -o responses.csv
  mt_invert forward --model model.mod --sites data.dat -o predicted.dat
  mpirun -n 4 mt_invert forward --model volume.rho --sites stations.csv --periods 1,10 -o responses.csv
  mt_invert forward --model out/demo/result.h5 --sites sites.csv --periods 10 --mesh-report)";

/// The arguments as CLI11 fills them in.
struct Parsed {
  ForwardArguments arguments;
  std::vector<std::string> periods;
  std::string accuracy = "default", definition;
  bool drape = false;
};

/// Returns the words of `--accuracy`; "default" is another word for the standard one.
std::vector<std::string> accuracy_words() {
  std::vector<std::string> words = core::all_words<physics::mt::d2::Accuracy>();
  words.emplace_back(Parsed{}.accuracy);
  return words;
}

physics::mt::d2::Accuracy accuracy_from(const std::string& word) {
  return core::find_word<physics::mt::d2::Accuracy>(word).value_or(physics::mt::d2::Accuracy::standard);
}

void check(const ForwardArguments& arguments) {
  std::set<double> seen;
  for (const double period : arguments.periods_s) {
    if (!physics::mt::is_in_frequency_range(period))
      throw core::ConfigError("command line#bad_period",
                              "--periods expects positive numbers of seconds between 1e-9 and 1e9, got {}",
                              period);
    if (!seen.insert(period).second)
      throw core::ConfigError("command line#repeated_period",
                              "--periods lists {} s twice; give each period once", period);
  }
  const std::string& path = arguments.output_path;
  const bool known =
      path.empty() || path.ends_with(".csv") || path.ends_with(".h5") || path.ends_with(".dat");
  if (!known)
    throw core::ConfigError("command line#unknown_ending",
                            "-o expects a name that ends in .csv, .h5 or .dat, got {}", path);
}

}  // namespace

TakeArguments add_forward(CLI::App& app) {
  CLI::App* command = app.add_subcommand("forward", "Responses of a resistivity section or volume.")
                          ->footer(forward_examples);
  auto parsed = std::make_shared<Parsed>();
  ForwardArguments& to = parsed->arguments;
  command->add_option("--model", to.model_path, "section or volume: ModEM, our HDF5, or TOML")->required();
  command
      ->add_option("--sites", to.sites_path,
                   "ModEM or MARE2DEM data file, or CSV site,y_m[,z_m]; site,x_m,y_m[,z_m] on a map")
      ->required();
  command->add_option("--periods", parsed->periods, "comma-separated periods in seconds (with CSV sites)")
      ->type_name("LIST")
      ->allow_extra_args(false);
  command->add_flag("--drape", parsed->drape,
                    "move sites beside the surface onto it instead of refusing them");
  command
      ->add_option("--definition", parsed->definition,
                   "axes of the fields: horizontal (default), or slope_parallel: along the surface")
      ->check(CLI::IsMember(core::all_words<physics::mt::Definition>()));
  command
      ->add_option(
          "--accuracy", parsed->accuracy,
          "default (0.5 %, 0.2 degrees; volumes 1.5 %, 0.7 degrees), fine, or iteration: as inversions step")
      ->check(CLI::IsMember(accuracy_words()));
  command->add_flag("--mesh-report", to.mesh_report, "print the meshes and their certificate");
  CLI::Option* refine =
      command
          ->add_option(
              "--refine", to.refined_nodes,
              "estimate the errors of a section's responses, and refine meshes that miss the accuracy to "
              "at most so many nodes each")
          ->type_name("NODES")
          ->check(CLI::Range(1000, 10'000'000));
  command
      ->add_option("--check-runs", to.check_runs,
                   "limit of the work of that estimate and the refined meshes, in runs without them")
      ->type_name("RUNS")
      ->check(CLI::Range(1.5, 1000.0))
      ->needs(refine);
  command->add_option("-o,--output", to.output_path,
                      "OUT.csv, OUT.h5 or OUT.dat (default: CSV on standard output)");
  return [parsed] {
    ForwardArguments arguments = parsed->arguments;
    for (const std::string& text : parsed->periods)
      std::ranges::copy(numbers_of(text, "--periods", "numbers of seconds between commas"),
                        std::back_inserter(arguments.periods_s));
    check(arguments);
    if (!parsed->definition.empty())
      arguments.definition = core::find_word<physics::mt::Definition>(parsed->definition);
    arguments.off_surface = parsed->drape ? physics::mt::OffSurface::drape : physics::mt::OffSurface::refuse;
    arguments.accuracy = accuracy_from(parsed->accuracy);
    return arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
