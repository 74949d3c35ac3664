// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* invert_examples = R"(Examples:
  mt_invert invert survey.toml                            run; results in out/survey
  mt_invert invert survey.toml --dry-run                  unknowns, data, meshes, memory and time, no inversion
  mt_invert invert survey.toml --set inversion.target_rms=1.5 -o out/second
  mt_invert invert survey.toml --dim 1 -o out/soundings   layered earths side by side, in seconds
  mt_invert invert survey.toml --dim 3 -o out/volume      a volume below stations on a map
  mpirun -n 4 mt_invert invert survey.toml -o out/run --time-limit 55
  mpirun -n 4 mt_invert invert survey.toml -o out/run --resume)";

constexpr const char* train_examples = R"(Examples:
  mt_invert train prior.toml --preview            pictures of random draws, no training
  mt_invert train prior.toml --dry-run            parameters, memory, work and time, no training
  mt_invert train prior.toml                      network, card and report in out/prior
  mt_invert train prior.toml --set training.epochs=20 -o out/short --time-limit 5
  mt_invert train prior.toml -o out/short --resume
  mpirun -n 4 --bind-to none mt_invert train prior.toml --shards 8   the bytes of any 1 to 8 ranks)";

/// Adds the option of long runs and returns its value once the line is parsed. errors: ConfigError for a
/// limit that is not positive.
std::function<std::optional<double>()> add_time_limit(CLI::App& command) {
  auto minutes = std::make_shared<double>(0.0);
  const CLI::Option* option = command.add_option(
      "--time-limit", *minutes, "stop cleanly before this many minutes have passed (exit code 11)");
  return [option, minutes]() -> std::optional<double> {
    if (option->count() == 0) return {};
    if (!(*minutes > 0.0))
      throw core::ConfigError("command line#bad_time_limit",
                              "--time-limit expects a positive number of minutes, got {:g}", *minutes);
    return *minutes;
  };
}

void check(const InvertArguments& arguments) {
  if (arguments.dry_run && arguments.resume)
    throw core::ConfigError("command line#exclusive_options",
                            "--dry-run and --resume exclude each other; give one of them");
  if (arguments.dim == 1 && (arguments.dry_run || arguments.resume))
    throw core::ConfigError("command line#not_in_one_dimension",
                            "--dim 1 takes seconds and has neither --dry-run nor --resume; leave them out");
}

void check(const TrainArguments& arguments) {
  if (arguments.times.are_given() && !arguments.dry_run)
    throw core::ConfigError("command line#not_in_a_run",
                            "--times and --machine say how --dry-run announces times; give --dry-run, or "
                            "leave them out");
  if (arguments.preview + arguments.resume + arguments.dry_run > 1)
    throw core::ConfigError("command line#exclusive_options",
                            "--preview, --resume and --dry-run exclude each other; give one of them");
  if (!(arguments.rank_timeout_s > 0.0))
    throw core::ConfigError("command line#bad_rank_timeout",
                            "--rank-timeout expects a positive number of seconds, got {:g}",
                            arguments.rank_timeout_s);
}

}  // namespace

TakeArguments add_invert(CLI::App& app) {
  auto arguments = std::make_shared<InvertArguments>();
  InvertArguments& to = *arguments;
  CLI::App* command =
      app.add_subcommand("invert", "Invert measured data for a section or a volume of resistivity.")
          ->footer(invert_examples);
  command->add_option("CONFIG", to.config_path, "configuration (TOML; keys: mt_invert help configuration)")
      ->required();
  command->add_option("--set", to.assignments, "key=value, stronger than the file (repeatable)")
      ->allow_extra_args(false);
  command->add_option("-o,--output", to.output_folder,
                      "folder for the results (default: out/<name of CONFIG>)");
  command->add_flag("--resume", to.resume, "go on from the checkpoint in the folder");
  command->add_flag("--dry-run", to.dry_run, "print what would be done and stop");
  command->add_option("--dim", to.dim, "1: a layered earth under each station; 2: a section; 3: a volume")
      ->check(CLI::IsMember({1, 2, 3}));
  return [arguments, time_limit = add_time_limit(*command)] {
    arguments->time_limit_min = time_limit();
    check(*arguments);
    return *arguments;
  };
}

TakeArguments add_train(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  TrainArguments& to = *arguments;
  CLI::App* command =
      app.add_subcommand("train", "Train a learned prior of subdomains.")->footer(train_examples);
  command->add_option("CONFIG", to.config_path, "configuration (TOML; keys: mt_invert help configuration)")
      ->required();
  command->add_option("--set", to.assignments, "key=value, stronger than the file (repeatable)")
      ->allow_extra_args(false);
  command->add_option("-o,--output", to.output_folder,
                      "folder for the network (default: out/<name of CONFIG>)");
  command->add_flag("--resume", to.resume, "go on from the checkpoint in the folder");
  command->add_flag("--preview", to.preview, "write pictures of random draws and stop");
  auto shards = std::make_shared<std::string>();
  command->add_option("--shards", *shards,
                      "parts of a batch, at least as many as ranks; the same as --set training.shards=N");
  command->add_option("--rank-timeout", to.rank_timeout_s,
                      "seconds after which a rank that waits for another ends the run (default: 600)");
  command->add_flag("--dry-run", to.dry_run, "print what would be done and stop");
  return [arguments, shards, times = add_times(*command), time_limit = add_time_limit(*command)] {
    if (!shards->empty()) arguments->assignments.push_back("training.shards=" + *shards);
    arguments->times = times();
    arguments->time_limit_min = time_limit();
    check(*arguments);
    return *arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
