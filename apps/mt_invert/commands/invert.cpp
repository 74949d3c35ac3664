// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/resume_command.hpp"
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/commands/invert_1d.hpp"
#include "apps/mt_invert/commands/rank_zero.hpp"
#include "apps/mt_invert/method/dry_run.hpp"
#include "apps/mt_invert/method/run_directives.hpp"
#include "apps/mt_invert/method/run_results.hpp"
#include "apps/mt_invert/method/smoothness.hpp"
#include "apps/mt_invert/method/stages.hpp"
#include "apps/mt_invert/method/stop_requests.hpp"
#include "apps/mt_invert/method/uncertainty.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/directives.hpp"
#include "io/run/new_folder.hpp"
#include "physics/mt/site_kinks.hpp"

namespace lodestone::mt_invert::commands {
namespace {

method::RunFolder folder_of(const cli::InvertArguments& arguments) {
  if (!arguments.output_folder.empty()) return method::RunFolder(arguments.output_folder);
  return method::RunFolder(std::filesystem::path("out") /
                           std::filesystem::path(arguments.config_path).stem());
}

/// Checks and makes the folder, and logs into it from here on.
void open_folder(MPI_Comm comm, const method::RunFolder& folder, const cli::InvertArguments& arguments,
                 const cli::CommandLine& line) {
  if (arguments.resume) {
    folder.require_checkpoint(comm);
  } else {
    folder.prepare_new(comm);
  }
  on_rank_zero(comm, [&] { core::log::configure({.format = line.log_format(), .file = folder.log()}); });
}

/// From here on there is something in the folder.
void echo_configuration(MPI_Comm comm, const method::RunFolder& folder, const cli::InvertArguments& arguments,
                        const config::Config& config, std::optional<io::run::NewFolder>& made) {
  if (made) made->keep();
  on_rank_zero(comm, [&] {
    core::write_file(
        folder.config(),
        fmt::format("# Every key with the value in force. Paths are relative to the folder of {}.\n{}",
                    std::filesystem::path(arguments.config_path).filename().string(), config.toml));
  });
}

/// The surroundings that all stages of a run share.
struct Surroundings {
  const config::Config& config;
  const method::RunFolder& folder;
  const method::RunInputs& inputs;
  method::StopRequests& stop;
};

void add_directives(inversion::optimize::Optimizer& optimizer, const method::Stage& stage,
                    const Surroundings& run) {
  const MPI_Comm comm = stage.physics.comm();
  const inversion::optimize::StagedHistory history = stage.history();
  if (core::rank_of(comm) == 0)
    optimizer.add(std::make_shared<inversion::optimize::ProgressBar>(run.config.inversion.max_iterations()));
  optimizer.add(std::make_shared<inversion::optimize::IterationTable>());
  if (run.config.output.checkpoint)
    optimizer.add(
        std::make_shared<method::SaveCheckpoint>(comm, run.folder.checkpoint(), run.inputs, stage.features));
  optimizer.add(std::make_shared<inversion::optimize::IterationsCsv>(comm, run.folder.iterations(), history));
  if (run.config.output.vtk)
    optimizer.add(std::make_shared<method::SaveSections>(comm, run.folder.vtk(), stage.earth,
                                                         stage.physics.space(), io::vtk::profile_frame(),
                                                         history.n_iterations_before()));
}

const char* way_from_kinks(const config::ProfileConfig& profile) {
  return profile.elevation == config::Elevation::stations
             ? "profile.elevation = \"stations\" puts a corner under every site; give the ground between "
               "them as well, by \"file\""
             : "give profile.surface_file shorter segments there";
}

std::unique_ptr<inversion::optimize::Optimizer> optimizer_of(const method::Stage& stage,
                                                             const config::Config& config) {
  const MPI_Comm comm = stage.physics.comm();
  if (!stage.alternates()) return config.inversion.make_optimizer(comm);
  const method::Smoothness of_codes(config.regularization, stage.earth, *stage.codes);
  return config.inversion.make_alternating(comm, *of_codes.coded(), stage.codes->subdomains()->encoding());
}

/// One stage: from its start, or from where a checkpoint left it.
inversion::optimize::InversionSummary minimize(const method::Stage& stage, const Surroundings& run,
                                               const std::optional<method::RunState>& saved) {
  // A good section fits the data, and is smooth or like the draws of its prior
  const method::PhysicsSetup& physics = stage.physics;
  const method::Smoothness smoothness(run.config.regularization, stage.earth, physics.space());
  const inversion::optimize::Objective objective{
      .forward = stage.first_forward(),
      .misfit = method::misfit_of(run.inputs.data, run.config.huber_threshold,
                                  method::shift_prior_of(run.config, physics.space())),
      .regularization = smoothness.at(stage.start)};

  // Steps until the data are fitted
  const auto optimizer = optimizer_of(stage, run.config);
  add_directives(*optimizer, stage, run);
  optimizer->set_redesign(stage.redesign(run.config));
  optimizer->set_reweigh(smoothness.reweigh());
  optimizer->set_stop(std::ref(run.stop));
  return saved ? optimizer->resume(objective, saved->state) : optimizer->minimize(objective, stage.start);
}

bool was_stopped(const inversion::optimize::InversionSummary& summary) {
  return summary.reason == inversion::optimize::StopReason::interrupted ||
         summary.reason == inversion::optimize::StopReason::time_limit;
}

int say_how_to_go_on(const std::string& what, const cli::InvertArguments& arguments,
                     const method::RunFolder& folder) {
  core::log::warning(
      "{}; go on with: {}", what,
      cli::resume_command("invert", arguments.config_path, arguments.assignments, folder.path().string()));
  return static_cast<int>(core::ExitCode::interrupted);
}

}  // namespace

int run_invert(MPI_Comm comm, const cli::InvertArguments& arguments, const cli::CommandLine& line) {
  const config::Config config = config::read_config(arguments.config_path, arguments.assignments);
  const method::RunFolder folder = folder_of(arguments);
  std::optional<io::run::NewFolder> made;
  if (core::rank_of(comm) == 0) made.emplace(folder.path(), line.log_format());
  if (!arguments.dry_run) open_folder(comm, folder, arguments, line);
  core::log::info("{}", config.title);
  if (arguments.dim == 1) {
    echo_configuration(comm, folder, arguments, config, made);
    return run_invert_1d(comm, config, folder, line);
  }

  // 1. Observations and the earth they see
  const method::Observations observations = method::load_observations(config.data, config.profile);
  physics::mt::warn_of_sites_at_kinks(observations.data.survey.stations, observations.surface,
                                      way_from_kinks(config.profile));
  const method::Earth earth = method::make_earth(config, observations);
  const auto data = observations.data.kept();

  // 2. Physics: TE and TM responses on meshes of their own, frequencies shared between ranks. Unknowns:
  // cells, or codes where a prior was learned
  const method::Stage first = method::first_stage(comm, config, earth, data.survey);
  if (arguments.dry_run) return method::print_dry_run(first, config, observations);
  const method::RunInputs inputs{config.toml, data, first.start,
                                 first.codes ? first.codes->subdomains()->identity() : ""};
  const io::run::Provenance provenance = io::run::make_provenance(line.as_typed, core::size_of(comm));
  std::optional<method::RunState> saved;
  if (arguments.resume) saved = method::read_checkpoint(folder.checkpoint(), inputs);
  echo_configuration(comm, folder, arguments, config, made);

  // 3. The model that fits the data and is smooth, or like the draws of its prior
  method::StopRequests stop(comm, arguments.time_limit_min);
  const Surroundings run{config, folder, inputs, stop};
  const bool features_are_over = saved && saved->before;
  inversion::optimize::InversionSummary summary =
      features_are_over ? *saved->before : minimize(first, run, saved);

  // 4. Where no draw of the prior fits the data, its cells move on their own, as little as they must
  std::optional<method::Stage> polish;
  if (method::needs_polish(config, summary)) {
    polish.emplace(method::polish_stage(config, first, std::move(summary)));
    summary = minimize(*polish, run, features_are_over ? saved : std::nullopt);
  }

  // 5. How well the data determine it
  if (was_stopped(summary)) return say_how_to_go_on(summary.message, arguments, folder);
  const method::Stage& last = polish ? *polish : first;
  const method::Findings found = method::find_uncertainty(
      {config, data, first, last, summary, folder},
      arguments.resume ? method::Samples::kept : method::Samples::none, std::ref(stop));
  if (found.stopped)
    return say_how_to_go_on(
        fmt::format("stopped from outside ({})", inversion::optimize::describe(*found.stopped)), arguments,
        folder);

  // 6. Results for ParaView, for people and for the next run
  const int code =
      method::finish_run({config, observations, first, last, folder, summary, found.uncertainty, provenance});
  core::log::debug("{}", core::Timeline::global().table());
  return code;
}

}  // namespace lodestone::mt_invert::commands
