// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* machine_examples = R"(Examples:
  mt_invert machine                                     the rates of this machine, measured in five seconds and kept
  srun --exclusive mt_invert machine --threads 16 -o node.json       those of a node of a cluster, as a file
  mt_invert train prior.toml --dry-run --threads 16 --machine node.json      what a training takes there)";

}  // namespace

std::function<TimesArguments()> add_times(CLI::App& command) {
  struct Parsed {
    std::string source, machine_path;
  };
  auto parsed = std::make_shared<Parsed>();
  command
      .add_option("--times", parsed->source,
                  "source of announced times: none, kernels (timed here) or rates (of a machine)")
      ->check(CLI::IsMember(core::all_words<engine::Times>()));
  command.add_option("--machine", parsed->machine_path,
                     "times by the rates in this file, which mt_invert machine has written elsewhere");
  return [parsed] {
    TimesArguments times{{}, parsed->machine_path};
    if (!parsed->source.empty()) times.source = core::parse<engine::Times>(parsed->source, "--times");
    if (!times.machine_path.empty() && times.source.value_or(engine::Times::rates) != engine::Times::rates)
      throw core::ConfigError("command line#exclusive_options",
                              "--machine gives times by rates, --times {} others; give one of them",
                              parsed->source);
    return times;
  };
}

TakeArguments add_machine(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("machine", "Print the rates by which times of trainings are announced.")
          ->footer(machine_examples);
  auto arguments = std::make_shared<MachineArguments>();
  command->add_flag("--again", arguments->again, "measure them although they are kept");
  command->add_option("-o,--output", arguments->output_path, "write them to this file, for other machines");
  return [arguments] { return *arguments; };
}

}  // namespace lodestone::mt_invert::cli
