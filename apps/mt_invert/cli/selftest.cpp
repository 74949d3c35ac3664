// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"
#include "models/earths/synthetic.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* selftest_examples = R"(Examples:
  mt_invert selftest --list
  mt_invert selftest layered1d commemi2d1
  mt_invert selftest --accuracy fine --json out/selftest.json
  mpirun -n 2 mt_invert selftest vae-synthetic --models 20 --json out/vae.json)";

constexpr const char* study_group = "Options of vae-synthetic";

void add_study(CLI::App& command, StudyArguments& to) {
  command
      .add_flag("--quick", to.options.quick,
                "one model of each family, noise of 5 %, a small network; judges the fit alone")
      ->group(study_group);
  command
      .add_option("--models", to.options.n_models,
                  "random models of each family (default: 20; 0: the two cases alone)")
      ->check(CLI::Range(0, 1000))
      ->group(study_group);
  std::vector<std::string> parts{"cases"};
  for (const models::earths::SyntheticFamily& family : models::earths::synthetic_families())
    parts.push_back(family.name);
  command
      .add_option("--only", to.options.only, "only the cases A and B, or these families, with commas between")
      ->delimiter(',')
      ->check(CLI::IsMember(parts))
      ->group(study_group);
  command.add_flag("--sweep", to.options.sweep, "the weights of every method x10 and /10 as well")
      ->group(study_group);
  command.add_flag("--tm", to.options.tm, "TM data beside TE")->group(study_group);
  command
      .add_option("--network", to.network_path,
                  "a network of the region of interest (default: trained on vae_synthetic_prior.toml)")
      ->group(study_group);
  command
      .add_option("-o,--output", to.output_folder,
                  "folder for network, data and sections (default: out/vae-synthetic)")
      ->group(study_group);
}

/// Refuses options of vae-synthetic where it is not named, and where it is those that it does not have.
/// errors: ConfigError.
void check_study(const CLI::App& command, const SelftestArguments& arguments) {
  if (std::ranges::count(arguments.names, "vae-synthetic") > 0) {
    if (arguments.accuracy == physics::mt::d2::Accuracy::fine)
      throw core::ConfigError("command line#not_an_option",
                              "--accuracy fine is no option of the selftest vae-synthetic, which sets that "
                              "of its meshes itself; leave it "
                              "out, or run the others alone");
    const models::study::Options& study = arguments.study.options;
    if (study.n_models == 0 && !study.only.empty() && std::ranges::count(study.only, "cases") == 0)
      throw core::ConfigError("command line#nothing_to_run",
                              "--models 0 leaves nothing of --only {} to run; leave out one of them",
                              fmt::join(study.only, ","));
    return;
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == study_group && option->count() > 0)
      throw core::ConfigError(
          "command line#not_an_option",
          "{} is an option of the selftest vae-synthetic; name it: mt_invert selftest vae-synthetic {}",
          option->get_name(), option->get_name());
  }
}

}  // namespace

TakeArguments add_selftest(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("selftest", "Compare with the bundled benchmarks.")->footer(selftest_examples);
  auto arguments = std::make_shared<SelftestArguments>();
  auto accuracy = std::make_shared<std::string>("default");
  command->add_option("NAME", arguments->names, "benchmarks to run (default: all)");
  command->add_flag("--list", arguments->list, "list the benchmarks");
  command
      ->add_option(
          "--accuracy", *accuracy,
          "of the meshes: default, or fine, judged by tighter limits (sections: 0.1 % and 0.05 degrees)")
      ->check(CLI::IsMember({*accuracy, std::string(core::word(physics::mt::d2::Accuracy::fine))}));
  command->add_option("--json", arguments->json_path, "write every comparison to this file");
  add_study(*command, arguments->study);
  return [command, arguments, accuracy] {
    using physics::mt::d2::Accuracy;
    arguments->accuracy = core::find_word<Accuracy>(*accuracy).value_or(Accuracy::standard);
    check_study(*command, *arguments);
    return *arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
