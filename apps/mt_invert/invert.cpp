// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands.hpp"
#include "apps/mt_invert/dry_run.hpp"
#include "apps/mt_invert/invert_1d.hpp"
#include "apps/mt_invert/new_folder.hpp"
#include "apps/mt_invert/rank_zero.hpp"
#include "apps/mt_invert/resume_command.hpp"
#include "apps/mt_invert/run_directives.hpp"
#include "apps/mt_invert/run_results.hpp"
#include "apps/mt_invert/site_kinks.hpp"
#include "apps/mt_invert/smoothness.hpp"
#include "apps/mt_invert/stages.hpp"
#include "apps/mt_invert/stop_requests.hpp"
#include "apps/mt_invert/uncertainty.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/timer.hpp"
#include "inversion/directives.hpp"

namespace lodestone::mt_invert {
namespace {

RunFolder folder_of(const InvertArguments& arguments) {
  if (!arguments.output_folder.empty()) return RunFolder(arguments.output_folder);
  return RunFolder(std::filesystem::path("out") / std::filesystem::path(arguments.config_path).stem());
}

/// Checks and makes the folder, and logs into it from here on.
void open_folder(MPI_Comm comm, const RunFolder& folder, const InvertArguments& arguments,
                 const CommandLine& line) {
  if (arguments.resume) {
    folder.require_checkpoint(comm);
  } else {
    folder.prepare_new(comm);
  }
  on_rank_zero(comm, [&] { core::log::configure({.format = line.log_format(), .file = folder.log()}); });
}

/// From here on there is something in the folder.
void echo_configuration(MPI_Comm comm, const RunFolder& folder, const InvertArguments& arguments,
                        const Config& config, std::optional<NewFolder>& made) {
  if (made) made->keep();
  on_rank_zero(comm, [&] {
    core::write_file(
        folder.config(),
        fmt::format("# Every key with the value in force. Paths are relative to the folder of {}.\n{}",
                    std::filesystem::path(arguments.config_path).filename().string(), config.toml));
  });
}

/// What every stage of a run has around it.
struct Surroundings {
  const Config& config;
  const RunFolder& folder;
  const RunInputs& inputs;
  StopRequests& stop;
};

void add_directives(inversion::Optimiser& optimiser, const Stage& stage, const Surroundings& run) {
  const MPI_Comm comm = stage.physics.comm();
  const inversion::StagedHistory history = stage.history();
  if (core::rank_of(comm) == 0)
    optimiser.add(std::make_shared<inversion::ProgressBar>(run.config.inversion.max_iterations()));
  optimiser.add(std::make_shared<inversion::IterationTable>());
  if (run.config.output.checkpoint)
    optimiser.add(
        std::make_shared<SaveCheckpoint>(comm, run.folder.checkpoint(), run.inputs, stage.features));
  optimiser.add(std::make_shared<inversion::IterationsCsv>(comm, run.folder.iterations(), history));
  if (run.config.output.vtk)
    optimiser.add(std::make_shared<SaveSections>(comm, run.folder.vtk(), stage.earth, stage.physics.space(),
                                                 io::profile_frame(), history.n_iterations_before()));
}

const char* way_from_kinks(const ProfileConfig& profile) {
  return profile.elevation == Elevation::stations
             ? "profile.elevation = \"stations\" puts a corner under every site; give the ground between "
               "them as well, by \"file\""
             : "give profile.surface_file shorter segments there";
}

std::unique_ptr<inversion::Optimiser> optimiser_of(const Stage& stage, const Config& config) {
  const MPI_Comm comm = stage.physics.comm();
  if (!stage.alternates()) return config.inversion.make_optimiser(comm);
  const Smoothness of_codes(config.regularization, stage.earth, *stage.codes);
  return config.inversion.make_alternating(comm, *of_codes.coded(), stage.codes->subdomains()->encoding());
}

/// One stage: from its start, or from where a checkpoint left it.
inversion::InversionSummary minimise(const Stage& stage, const Surroundings& run,
                                     const std::optional<RunState>& saved) {
  // What a good section is: it fits the data, and is smooth or like the draws of its prior
  const PhysicsSetup& physics = stage.physics;
  const Smoothness smoothness(run.config.regularization, stage.earth, physics.space());
  const inversion::Objective objective{.forward = stage.first_forward(),
                                       .misfit = misfit_of(run.inputs.data, run.config.huber_threshold,
                                                           shift_prior_of(run.config, physics.space())),
                                       .regularization = smoothness.at(stage.start)};

  // Steps until the data are fitted
  const auto optimiser = optimiser_of(stage, run.config);
  add_directives(*optimiser, stage, run);
  optimiser->set_redesign(stage.redesign(run.config));
  optimiser->set_reweigh(smoothness.reweigh());
  optimiser->set_stop(std::ref(run.stop));
  return saved ? optimiser->resume(objective, saved->state) : optimiser->minimise(objective, stage.start);
}

bool was_stopped(const inversion::InversionSummary& summary) {
  return summary.reason == inversion::StopReason::interrupted ||
         summary.reason == inversion::StopReason::time_limit;
}

int say_how_to_go_on(const std::string& what, const InvertArguments& arguments, const RunFolder& folder) {
  core::log::warning(
      "{}; go on with: {}", what,
      resume_command("invert", arguments.config_path, arguments.assignments, folder.path().string()));
  return static_cast<int>(core::ExitCode::interrupted);
}

}  // namespace

int run_invert(MPI_Comm comm, const InvertArguments& arguments, const CommandLine& line) {
  const Config config = read_config(arguments.config_path, arguments.assignments);
  const RunFolder folder = folder_of(arguments);
  std::optional<NewFolder> made;
  if (core::rank_of(comm) == 0) made.emplace(folder.path(), line.log_format());
  if (!arguments.dry_run) open_folder(comm, folder, arguments, line);
  core::log::info("{}", config.title);
  if (arguments.dim == 1) {
    echo_configuration(comm, folder, arguments, config, made);
    return run_invert_1d(comm, config, folder, line);
  }

  // 1. Observations and the earth they see
  const Observations observations = load_observations(config.data, config.profile);
  warn_of_sites_at_kinks(observations.data.survey.stations, observations.surface,
                         way_from_kinks(config.profile));
  const Earth earth = make_earth(config, observations);
  const auto data = observations.data.kept();

  // 2. Physics: TE and TM responses on meshes of their own, frequencies shared between ranks. Unknowns:
  // cells, or codes where a prior was learned
  const Stage first = first_stage(comm, config, earth, data.survey);
  if (arguments.dry_run) return print_dry_run(first, config, observations);
  const RunInputs inputs{config.toml, data, first.start,
                         first.codes ? first.codes->subdomains()->identity() : ""};
  const io::Provenance provenance = io::make_provenance(line.as_typed, core::size_of(comm));
  std::optional<RunState> saved;
  if (arguments.resume) saved = read_checkpoint(folder.checkpoint(), inputs);
  echo_configuration(comm, folder, arguments, config, made);

  // 3. The model that fits the data and is smooth, or like the draws of its prior
  StopRequests stop(comm, arguments.time_limit_min);
  const Surroundings run{config, folder, inputs, stop};
  const bool features_are_over = saved && saved->before;
  inversion::InversionSummary summary = features_are_over ? *saved->before : minimise(first, run, saved);

  // 4. Where no draw of the prior fits the data, its cells move on their own, as little as they must
  std::optional<Stage> polish;
  if (needs_polish(config, summary)) {
    polish.emplace(polish_stage(config, first, std::move(summary)));
    summary = minimise(*polish, run, features_are_over ? saved : std::nullopt);
  }

  // 5. How well the data determine it
  if (was_stopped(summary)) return say_how_to_go_on(summary.message, arguments, folder);
  const Stage& last = polish ? *polish : first;
  const Findings found = find_uncertainty({config, data, first, last, summary, folder},
                                          arguments.resume ? Samples::kept : Samples::none, std::ref(stop));
  if (found.stopped)
    return say_how_to_go_on(fmt::format("stopped from outside ({})", inversion::describe(*found.stopped)),
                            arguments, folder);

  // 6. Results for ParaView, for people and for the next run
  const int code =
      finish_run({config, observations, first, last, folder, summary, found.uncertainty, provenance});
  core::log::debug("{}", core::Timeline::global().table());
  return code;
}

}  // namespace lodestone::mt_invert
