// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/resume_command.hpp"
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/commands/invert_1d.hpp"
#include "apps/mt_invert/method/dry_run.hpp"
#include "apps/mt_invert/method/run_directives.hpp"
#include "apps/mt_invert/method/run_results.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/directives.hpp"
#include "io/hdf5/store.hpp"
#include "io/run/folder.hpp"
#include "physics/mt/site_kinks.hpp"

namespace lodestone::mt_invert::commands {
namespace {

io::run::RunFolder folder_of(const cli::InvertArguments& arguments) {
  if (!arguments.output_folder.empty()) return io::run::RunFolder(arguments.output_folder);
  return io::run::RunFolder(std::filesystem::path("out") /
                            std::filesystem::path(arguments.config_path).stem());
}

/// Checks and makes the folder, and logs into it from here on.
void open_folder(MPI_Comm comm, const io::run::RunFolder& folder, const cli::InvertArguments& arguments,
                 const cli::CommandLine& line) {
  core::on_rank_zero(comm, [&] {
    arguments.resume ? folder.require_checkpoint() : folder.prepare_new();
    core::log::configure({.format = line.log_format(), .file = folder.log()});
  });
}

/// From here on there is something in the folder.
void echo_configuration(MPI_Comm comm, const io::run::RunFolder& folder,
                        const cli::InvertArguments& arguments, const config::Config& config,
                        std::optional<io::run::NewFolder>& made) {
  if (made) made->keep();
  core::on_rank_zero(comm, [&] {
    core::write_file(
        folder.config(),
        fmt::format("# Every key with the value in force. Paths are relative to the folder of {}.\n{}",
                    std::filesystem::path(arguments.config_path).filename().string(), config.toml));
  });
}

const char* way_from_kinks(const config::ProfileConfig& profile) {
  return profile.elevation == config::Elevation::stations
             ? "profile.elevation = \"stations\" puts a corner under every site; give the ground between "
               "them as well, by \"file\""
             : "give profile.surface_file shorter segments there";
}

/// Adds what a run writes and shows after every iteration.
void add_directives(inversion::Inversion& run, MPI_Comm comm, const config::Config& config,
                    const io::run::RunFolder& folder) {
  using inversion::Stage;
  namespace optimize = inversion::optimize;
  using Ptr = inversion::Inversion::DirectivePtr;
  if (core::rank_of(comm) == 0)
    run.add([&](const Stage&) -> Ptr {
      return std::make_shared<optimize::ProgressBar>(config.inversion.max_iterations());
    });
  run.add([](const Stage&) { return inversion::iteration_table(); });
  run.add([comm, &folder](const Stage& stage) -> Ptr {
    return std::make_shared<optimize::IterationsCsv>(comm, folder.iterations(), stage.history());
  });
  if (config.output.vtk)
    run.add([comm, &folder](const Stage& stage) -> Ptr {
      return std::make_shared<method::SaveSections>(comm, folder.vtk(), stage, physics::mesh::Frame{});
    });
}

int say_how_to_go_on(const std::string& what, const cli::InvertArguments& arguments,
                     const io::run::RunFolder& folder) {
  core::log::warning(
      "{}; go on with: {}", what,
      cli::resume_command("invert", arguments.config_path, arguments.assignments, folder.path().string()));
  return static_cast<int>(core::ExitCode::interrupted);
}

}  // namespace

int run_invert(MPI_Comm comm, const cli::InvertArguments& arguments, const cli::CommandLine& line) {
  const config::Config config = config::read_config(arguments.config_path, arguments.assignments);
  const io::run::RunFolder folder = folder_of(arguments);
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

  // 2. The problem: TE and TM responses on meshes of their own, and what is known before the data
  const method::Setup setup = method::make_setup(comm, config, earth, observations.data);
  inversion::Inversion run(comm, setup.problem, config.inversion.method);
  if (arguments.dry_run) return method::print_dry_run(run, *setup.simulations, config, observations);
  const io::run::Provenance provenance = io::run::make_provenance(line.as_typed, core::size_of(comm));

  // 3. The model that fits the data and is smooth, or like the draws of its prior
  core::StopRequests stop(comm, arguments.time_limit_min);
  run.set_stop([&stop] { return inversion::reason_of(stop()); });
  const core::StorePtr checkpoint = io::hdf5::store(folder.checkpoint());
  if (config.output.checkpoint) {
    run.keep(checkpoint, config.toml);
  } else if (arguments.resume) {
    run.resume_from(*checkpoint, config.toml);
  }
  if (config.uncertainty) run.assess(*config.uncertainty, io::hdf5::store(folder.ensemble()));
  echo_configuration(comm, folder, arguments, config, made);
  add_directives(run, comm, config, folder);
  const inversion::Outcome outcome = run.minimize();
  if (outcome.was_stopped()) return say_how_to_go_on(outcome.ending.text, arguments, folder);

  // 4. Results for ParaView, for people and for the next run
  const int code = method::finish_run({config, observations, setup, folder, outcome, provenance});
  core::log::debug("{}", core::Timeline::global().table());
  return code;
}

}  // namespace lodestone::mt_invert::commands
