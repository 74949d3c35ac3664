// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* inspect_examples = R"(Examples:
  mt_invert inspect prior.toml                           a training step: its programs, memory and numbers, in out/prior
  mt_invert inspect prior.toml --network out/prior/vae.h5 --arrays -o out/step
  mt_invert inspect prior.toml --checkpoint out/prior/checkpoint.safetensors
  mt_invert inspect prior.toml --compare elsewhere/values.h5
  mt_invert inspect here/values.h5 --compare elsewhere/values.h5)";

bool is_values(const std::string& path) { return path.ends_with(".h5"); }

void check(const InspectArguments& arguments) {
  if (!arguments.network_path.empty() && !arguments.checkpoint_path.empty())
    throw core::ConfigError("command line#exclusive_options",
                            "--network and --checkpoint exclude each other; give one of them");
  if (!is_values(arguments.path)) return;
  const bool has_more = arguments.arrays || !arguments.network_path.empty() ||
                        !arguments.checkpoint_path.empty() || !arguments.output_folder.empty() ||
                        !arguments.assignments.empty() || arguments.times.are_given();
  if (arguments.other_path.empty() || has_more)
    throw core::ConfigError("command line#values_are_compared",
                            "values that were written can be compared with --compare OTHER.h5, and nothing "
                            "else; give the configuration of a training for all other options");
}

}  // namespace

TakeArguments add_inspect(CLI::App& app) {
  auto arguments = std::make_shared<InspectArguments>();
  InspectArguments& to = *arguments;
  CLI::App* command =
      app.add_subcommand("inspect", "Look into a training step: programs, memory, numbers op by op.")
          ->footer(inspect_examples);
  command->add_option("CONFIG", to.path, "configuration of train (TOML), or a values.h5 of this command")
      ->required();
  command->add_option("--set", to.assignments, "key=value, stronger than the file (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--network", to.network_path, "a trained network, whose weights are taken");
  command->add_option("--checkpoint", to.checkpoint_path, "a training's state, which is taken");
  command->add_option("--compare", to.other_path, "a values.h5, from another build or machine");
  command->add_flag("--arrays", to.arrays, "keep whole arrays, not their statistics only");
  command->add_option("-o,--output", to.output_folder, "folder (default: out/<name of CONFIG>)");
  return [arguments, times = add_times(*command)] {
    arguments->times = times();
    check(*arguments);
    return *arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
