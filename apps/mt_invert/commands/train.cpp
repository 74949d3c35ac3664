// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/train.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_text.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/state/safetensors.hpp"
#include "io/hdf5/file.hpp"
#include "io/report/training.hpp"
#include "io/run/folder.hpp"
#include "models/vae/vae_step.hpp"

#include <chrono>

namespace lodestone::mt_invert::commands {
namespace {

/// A line per epoch.
class LogEpochs final : public engine::Callback {
 public:
  explicit LogEpochs(std::int64_t epochs) : epochs_(epochs) {}
  void begin(engine::Training&) override { last_ = Clock::now(); }
  void after_epoch(engine::Training& training) override {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    const auto left = static_cast<double>(epochs_ - training.n_epochs());
    core::log::info(
        "epoch {}/{}: loss {:.5f}, validation {:.5f}, of which reconstruction {:.5f}; {:.1f} s, at most "
        "{:.0f} s to go",
        training.n_epochs(), epochs_, training.figure("loss"), training.figure("validation_loss"),
        training.figure("validation_reconstruction"), seconds, left * seconds);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t epochs_;
  Clock::time_point last_ = Clock::now();
};

void save(const io::run::TrainFolder& folder, config::VaeFormat format, const models::vae::TrainedVae& vae) {
  if (format == config::VaeFormat::hdf5) {
    io::hdf5::Hdf5Sink sink(folder.hdf5());
    vae.save(sink);
    sink.commit();
  } else {
    engine::SafetensorsSink sink(folder.safetensors());
    vae.save(sink);
    sink.commit();
  }
  core::write_file(folder.card(), vae.card());
}

void open_folder(const io::run::TrainFolder& folder, const cli::TrainArguments& arguments,
                 const cli::CommandLine& line, io::run::NewFolder& made) {
  made.open(folder.log(), [&] { arguments.resume ? folder.require_checkpoint() : folder.prepare_new(); });
  core::log::configure({.format = line.log_format(), .file = folder.log()});
}

/// Trains the network. errors: those of the training, with advice where numbers are not finite.
models::vae::VaeTraining trained(const config::TrainConfig& config, const models::vae::VaeRun& run) {
  try {
    return models::vae::train_vae(config.prior, config.setup, run);
  } catch (const core::SolverError& error) {
    if (error.id() != "not_finite") throw;
    throw core::SolverError(
        core::Worded{fmt::format("{}; lower training.learning_rate", error.what()), error.place()});
  }
}

/// Logs where the files of a training are and which lines make an inversion use them. Paths are absolute,
/// since a configuration resolves relative ones from its own folder.
void say_what_was_made(const io::run::TrainFolder& folder, const config::TrainConfig& config) {
  const std::string network =
      config.output.format == config::VaeFormat::hdf5 ? folder.hdf5() : folder.safetensors();
  if (config.output.report) core::log::info("report:     {}", folder.report());
  core::log::info("network:    {}", network);
  core::log::info(
      "to use it:  [[learned_prior.region]] with network = {} and y_m = [from, to], in the file of "
      "`mt_invert invert`",
      core::json_quoted(std::filesystem::absolute(network).lexically_normal().string()));
}

/// Writes the network with its card and report, and says where they are.
void write_network(const io::run::TrainFolder& folder, const config::TrainConfig& config,
                   const models::vae::VaeTraining& training) {
  save(folder, config.output.format, *training.vae);
  if (config.output.report) {
    io::report::write_training_report(folder.path(), {config.title, config.toml, folder.history()},
                                      config.prior, config.setup.recipe, *training.vae);
  }
  core::log::info("{}; reconstruction error {:.3f} decades rms, {} of {} codes in use",
                  training.summary.why_stopped, training.vae->statistics().rms,
                  training.vae->statistics().n_active(), training.vae->options().n_codes);
  if (training.vae->statistics().n_active() == 0)
    core::log::warning(core::log::Id("mt_invert#no_active_code"),
                       "none of the {} codes varies: the network returns one mean subdomain. Train longer, "
                       "raise learning_rate or "
                       "lower loss.divergence.",
                       training.vae->options().n_codes);
  say_what_was_made(folder, config);
}

/// Trains on the ranks of a world, or alone without one. `made`: the folder, on the rank that writes. → the
/// exit code.
core::ExitCode train(const io::run::TrainFolder& folder, const cli::TrainArguments& arguments,
                     const config::TrainConfig& config, const engine::World& world,
                     std::optional<io::run::NewFolder>& made) {
  core::StopRequests stop(
      MPI_COMM_SELF,
      arguments.time_limit_min);  // a signal may come to one rank alone; the training agrees
  const models::vae::VaeRun run{
      .checkpoint = config.output.checkpoint ? folder.checkpoint() : "",
      .history = folder.history(),
      .begin = arguments.resume ? models::vae::Begin::resume : models::vae::Begin::anew,
      .data = config.data,
      .stop = [&] { return stop().has_value(); },
      .watchers = engine::callbacks(LogEpochs(config.setup.recipe.epochs)),
      .world = world};
  models::vae::check_run(config.prior, config.setup,
                         run);  // the folder of a resume that is refused stays as it is
  if (made) {
    made->keep();
    write_configuration(folder.config(),
                        "[grid] and [prior] as given, of the other tables every key with the value in force.",
                        arguments.config_path, config.toml);
  }
  const models::vae::VaeTraining training = trained(config, run);
  if (!training.vae) {
    const std::string next =
        config.output.checkpoint
            ? "go on with: " + cli::resume_command("train", arguments.config_path, arguments.assignments,
                                                   folder.path().string())
            : "nothing was kept (output.checkpoint = false)";
    core::log::warning(core::log::Id("mt_invert#training_stopped"), "stopped after {} steps; {}",
                       training.summary.n_steps, next);
    return core::ExitCode::interrupted;
  }
  if (made) write_network(folder, config, training);
  return core::ExitCode::ok;
}

/// Refuses ranks for which a batch has no parts. errors: ConfigError.
void check_ranks(int n_ranks, const config::TrainConfig& config) {
  const models::vae::VaeRecipe& recipe = config.setup.recipe;
  if (n_ranks <= recipe.shards) return;
  throw core::ConfigError(
      "mt_invert#too_many_ranks",
      "expected at most as many ranks as training.shards, {}, got {}; start fewer, or give "
      "--shards {}, up to the {} draws of a batch (the network then has other bits)",
      recipe.shards, n_ranks, n_ranks, recipe.batch_size);
}

}  // namespace

int run_train(MPI_Comm comm, const cli::TrainArguments& arguments, const cli::CommandLine& line) {
  const config::TrainConfig config = config::read_train_config(arguments.config_path, arguments.assignments);
  const io::run::TrainFolder folder(output_folder(arguments.output_folder, arguments.config_path));
  core::log::info("{}", config.title);
  if (arguments.preview) {
    core::on_rank_zero(
        comm, [&] { io::report::write_prior_preview(folder.preview(), config.title, config.prior); });
    return 0;
  }
  if (arguments.dry_run) {
    core::on_rank_zero(comm, [&] {
      core::log::print_out(
          models::vae::announced_training(config.prior, config.setup, dry_run_options(arguments.times)));
    });
    return 0;
  }
  check_ranks(core::size_of(comm), config);
  std::optional<io::run::NewFolder> made;  // on rank 0, which writes
  core::on_rank_zero(comm, [&] {
    made.emplace(folder.path(), line.log_format());
    open_folder(folder, arguments, line, *made);
  });
  if (core::size_of(comm) == 1) return static_cast<int>(train(folder, arguments, config, {}, made));
  core::ExitCode code = core::ExitCode::ok;
  engine::with_mpi_world(
      comm, [&](const engine::World& world) { code = train(folder, arguments, config, world, made); },
      {.patience_s = arguments.rank_timeout_s});
  return static_cast<int>(code);
}

}  // namespace lodestone::mt_invert::commands
