// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands.hpp"
#include "apps/mt_invert/dry_run.hpp"
#include "apps/mt_invert/invert_1d.hpp"
#include "apps/mt_invert/rank_zero.hpp"
#include "apps/mt_invert/run_directives.hpp"
#include "apps/mt_invert/run_results.hpp"
#include "apps/mt_invert/site_kinks.hpp"
#include "apps/mt_invert/smoothness.hpp"
#include "apps/mt_invert/stop_requests.hpp"
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
void open_folder(MPI_Comm comm, const RunFolder& folder, const InvertArguments& arguments, const CommandLine& line) {
  if (arguments.resume) {
    folder.require_checkpoint(comm);
  } else {
    folder.prepare_new(comm);
  }
  const auto format = line.log_as_json ? core::log::Format::json_lines : core::log::Format::human;
  on_rank_zero(comm, [&] { core::log::configure({.format = format, .file = folder.log()}); });
}

void echo_configuration(MPI_Comm comm, const RunFolder& folder, const InvertArguments& arguments, const Config& config) {
  on_rank_zero(comm, [&] {
    core::write_file(folder.config(), fmt::format("# Every key with the value in force. Paths are relative to the folder of {}.\n{}",
                                                  std::filesystem::path(arguments.config_path).filename().string(), config.toml));
  });
}

void add_directives(inversion::Optimiser& optimiser, const PhysicsSetup& physics, const Config& config, const Earth& earth,
                    const RunFolder& folder, const RunInputs& inputs) {
  const MPI_Comm comm = physics.comm();
  if (core::rank_of(comm) == 0) optimiser.add(std::make_shared<inversion::ProgressBar>(config.inversion.max_iterations()));
  optimiser.add(std::make_shared<inversion::IterationTable>());
  if (config.output.checkpoint) optimiser.add(std::make_shared<SaveCheckpoint>(comm, folder.checkpoint(), inputs));
  optimiser.add(std::make_shared<inversion::IterationsCsv>(comm, folder.iterations()));
  if (config.output.vtk) optimiser.add(std::make_shared<SaveSections>(comm, folder.vtk(), earth, physics.space(), io::profile_frame()));
}

/// Meshes follow the model from one iteration to the next.
inversion::Redesign redesign_of(const PhysicsSetup& physics, const ForwardConfig& config) {
  if (config.redesign == Redesigning::never) return {};
  return [&physics](const core::ConstVectorRef& model, int iteration) -> core::MapPtr {
    if (iteration <= 1) return nullptr;  // the first meshes are those of the start model
    return physics.forward_for(physics.space().to_log10(model));
  };
}

ModelSpace space_of(const Config& config, const Earth& earth, const physics::mt::Survey2D& survey) {
  std::vector<physics::mt::StaticShiftKey> shifts;
  if (config.static_shift) {
    shifts = physics::mt::static_shift_keys(survey, config.static_shift->modes);
    core::log::info("static shifts: {} unknowns, {:g} decades wide", shifts.size(), config.static_shift->sigma_decades);
  }
  return {earth, config.bounds, std::move(shifts)};
}

const char* way_from_kinks(const ProfileConfig& profile) {
  return profile.elevation == Elevation::stations
             ? "profile.elevation = \"stations\" puts a corner under every site; give the ground between them as well, by \"file\""
             : "give profile.surface_file shorter segments there";
}

/// A transform cannot hold a model outside its bounds.
void warn_if_moved(const ModelSpace& space, const char* which, const Eigen::VectorXd& log10_resistivity) {
  const Eigen::VectorXd inside = space.to_log10(space.from_log10(log10_resistivity));
  const auto n_moved = ((inside - log10_resistivity).array().abs() > 0.05).count();
  if (n_moved > 0)
    core::log::warning("{} cells of the {} model lie outside [bounds] and were moved inside; widen the bounds", n_moved, which);
}

}  // namespace

int run_invert(MPI_Comm comm, const InvertArguments& arguments, const CommandLine& line) {
  const Config config = read_config(arguments.config_path, arguments.assignments);
  const RunFolder folder = folder_of(arguments);
  if (!arguments.dry_run) open_folder(comm, folder, arguments, line);
  core::log::info("{}", config.title);
  if (arguments.dim == 1) {
    echo_configuration(comm, folder, arguments, config);
    return run_invert_1d(comm, config, folder, line);
  }

  // 1. Observations and the earth they see
  const Observations observations = load_observations(config.data, config.profile);
  warn_of_sites_at_kinks(observations.data.survey.stations, observations.surface, way_from_kinks(config.profile));
  const Earth earth = make_earth(config, observations);
  const auto data = observations.data.kept();

  // 2. Physics: TE and TM responses on meshes of their own, frequencies shared between ranks
  const PhysicsSetup physics(comm, earth, data.survey, space_of(config, earth, data.survey), config.forward);
  if (arguments.dry_run) return print_dry_run(physics, config, earth, observations);
  const Eigen::VectorXd start = physics.space().unshifted(earth.start_log10);
  warn_if_moved(physics.space(), "start", earth.start_log10);
  warn_if_moved(physics.space(), "reference", earth.reference_log10);

  // 3. What a good section is: it fits the data and is smooth
  const Smoothness smoothness(config.regularization, earth, physics.space());
  const inversion::Objective objective{.forward = physics.forward_for(earth.start_log10),
                                       .misfit = misfit_of(data, config.huber_threshold, shift_prior_of(config, physics.space())),
                                       .regularization = smoothness.at(start)};

  // 4. Steps until the data are fitted
  const RunInputs inputs{config.toml, data, start};
  const auto optimiser = config.inversion.make_optimiser(comm);
  add_directives(*optimiser, physics, config, earth, folder, inputs);
  optimiser->set_redesign(redesign_of(physics, config.forward));
  optimiser->set_reweigh(smoothness.reweigh());
  StopRequests stop(comm, arguments.time_limit_min);
  optimiser->set_stop(std::ref(stop));
  io::Provenance provenance = io::make_provenance(line.as_typed, core::size_of(comm));
  std::optional<inversion::InversionState> saved;
  if (arguments.resume) saved = read_checkpoint(folder.checkpoint(), inputs);
  echo_configuration(comm, folder, arguments, config);
  const auto summary = saved ? optimiser->resume(objective, *saved) : optimiser->minimise(objective, start);

  // 5. Results for ParaView, for people and for the next run
  if (summary.reason == inversion::StopReason::interrupted || summary.reason == inversion::StopReason::time_limit) {
    core::log::warning("{}; go on with: mt_invert invert {} -o {} --resume", summary.message, arguments.config_path,
                       folder.path().string());
    return static_cast<int>(core::ExitCode::interrupted);
  }
  const int code = finish_run({config, observations, earth, physics, folder, summary, std::move(provenance)});
  core::log::debug("{}", core::Trace::global().table());
  return code;
}

}  // namespace lodestone::mt_invert
