// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/commands/problem.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "engine/core/timer.hpp"
#include "inversion/run_estimate.hpp"
#include "io/hdf5/store.hpp"
#include "io/modem/covariance.hpp"
#include "io/modem/modem.hpp"
#include "io/run/folder.hpp"
#include "io/run/write.hpp"
#include "io/vtk/series.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace lodestone::mt_invert::commands {
namespace {

/// Checks, makes and locks the folder, and logs into it from here on.
void open_folder(MPI_Comm comm, const io::run::RunFolder& folder, const cli::InvertArguments& arguments,
                 const cli::CommandLine& line, std::optional<io::run::NewFolder>& made) {
  core::on_rank_zero(comm, [&] {
    made->open(folder.log(), [&] { arguments.resume ? folder.require_checkpoint() : folder.prepare_new(); });
    core::log::configure({.format = line.log_format(), .file = folder.log()});
  });
}

/// Writes the configuration; from here on there is something in the folder.
void echo_configuration(MPI_Comm comm, const io::run::RunFolder& folder,
                        const cli::InvertArguments& arguments, const config::Config& config,
                        std::optional<io::run::NewFolder>& made) {
  if (made) made->keep();
  core::on_rank_zero(comm, [&] {
    write_configuration(folder.config(), "Every key with the value in force.", arguments.config_path,
                        config.toml);
  });
}

/// Adds what a run writes and shows after every iteration.
void add_directives(inversion::Inversion& run, MPI_Comm comm, const config::Config& config,
                    const io::run::RunFolder& folder) {
  namespace optimize = inversion::optimize;
  if (core::rank_of(comm) == 0)
    run.add(std::make_shared<optimize::ProgressBar>(config.inversion.max_iterations()));
  run.add(inversion::iteration_table);
  run.add([comm, &folder](const inversion::Stage& stage) -> inversion::Inversion::DirectivePtr {
    return std::make_shared<optimize::IterationsCsv>(comm, folder.iterations(), stage.history());
  });
  if (config.output.vtk) run.add(io::vtk::save_models(comm, folder.vtk()));
}

/// Refuses data whose x would be dropped by a section.
void require_profile(const physics::mt::Observations& observed) {
  if (!observed.stations.front().local_frame) return;
  throw core::ConfigError(
      "mt_invert#sites_on_a_map",
      "expected sites along a profile, as a section is inverted, got those of {}, which stand "
      "on a map; give files of a profile, or --dim 1 or 3",
      observed.stations.front().path);
}

io::modem::ModemDataOptions modem_options(const physics::mesh::TensorGrid& grid, const char* comment) {
  io::modem::ModemDataOptions options{.dimension = grid.dimension(), .comment = comment};
  if (grid.dimension() == 2) options.left_edge_m = grid.extent().y_m.from;
  return options;
}

/// Refuses an earth that files of ModEM cannot hold.
void require_level(const inversion::Problem& problem) {
  if (problem.earth.surface.is_flat() && !problem.earth.sea) return;
  throw core::ConfigError("configuration#modem_has_no_relief",
                          "output.modem: expected a level surface without [sea], got {}; files of ModEM hold "
                          "neither, so remove the key (result.h5 has the model)",
                          problem.earth.sea ? "a sea" : "a relief");
}

/// Returns the data with those masked that the run does not use.
physics::mt::Observations used(physics::mt::Observations observed, const core::DataSet& data) {
  for (std::size_t i = 0; i < observed.reason.size(); ++i) {
    if (!data.is_used(static_cast<Eigen::Index>(i)) && observed.reason[i] == physics::mt::MaskReason::kept)
      observed.reason[i] = physics::mt::MaskReason::not_predicted;
  }
  return observed;
}

/// Returns a single area with the smoothing that ModEM uses by default.
io::modem::Covariance usual_covariance(const physics::mesh::TensorGrid& grid) {
  constexpr double smoothing = 0.3;
  const auto layers = static_cast<std::size_t>(grid.n_z());
  return {.n_x = grid.n_x(),
          .n_y = grid.n_y(),
          .n_z = grid.n_z(),
          .x_smoothing = std::vector<double>(layers, smoothing),
          .y_smoothing = std::vector<double>(layers, smoothing),
          .z_smoothing = smoothing,
          .area = std::vector<int>(static_cast<std::size_t>(grid.n_cells()), 1)};
}

/// Returns the covariance of the file that the run was given, or the usual one. In it ModEM holds the cells
/// that the run holds, too.
io::modem::Covariance covariance_of(const inversion::Problem& problem, const std::string& given) {
  using io::modem::Covariance;
  Covariance out = given.empty() ? usual_covariance(problem.earth.grid) : io::modem::read_covariance(given);
  std::vector<bool> is_free(out.area.size(), false);
  for (const Eigen::Index cell : problem.free_cells) is_free[static_cast<std::size_t>(cell)] = true;
  for (std::size_t cell = 0; cell < is_free.size(); ++cell) {
    if (!is_free[cell] && out.area[cell] != Covariance::air) out.area[cell] = Covariance::sea;
  }
  return out;
}

/// Writes what the run begins with as files of ModEM, so that what these cannot hold ends it here.
/// `covariance_file`: the one that was given; "" for none. errors: ConfigError on data without a block.
void write_modem_start(const io::run::RunFolder& folder, const physics::mt::Observations& observed,
                       const inversion::Problem& problem, const std::string& covariance_file) {
  core::make_folder(folder.modem());
  const physics::mesh::TensorGrid& grid = problem.earth.grid;
  io::modem::write_model((folder.modem() / "start.rho").string(),
                         {problem.earth, problem.property, problem.start});
  try {
    io::modem::write_data((folder.modem() / "observed.dat").string(), observed,
                          modem_options(grid, "data used by mt_invert"));
  } catch (const core::InvalidArgument& error) {
    if (error.id() != "no_block") throw;
    throw core::ConfigError("configuration#modem_has_no_block",
                            "output.modem: {}: data.kind = \"impedance\" does so, or remove the key",
                            error.what());
  }
  if (grid.dimension() == 3)
    io::modem::write_covariance((folder.modem() / "smooth.cov").string(),
                                covariance_of(problem, covariance_file));
}

/// Writes the model and its responses as files of ModEM.
void write_modem_end(const io::run::RunFolder& folder, physics::mt::Observations observed,
                     const inversion::Outcome& outcome) {
  for (std::size_t i = 0; i < observed.reason.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    observed.value[at] = outcome.predicted[at];
    if (!std::isfinite(outcome.predicted[at])) observed.reason[i] = physics::mt::MaskReason::missing;
  }
  io::modem::write_model((folder.modem() / "model.rho").string(), outcome.model);
  io::modem::write_data((folder.modem() / "predicted.dat").string(), observed,
                        modem_options(outcome.model.earth.grid, "responses of the model of mt_invert"));
  core::log::info("ModEM:      {}", folder.modem().string());
}

}  // namespace

int run_invert(MPI_Comm comm, const cli::InvertArguments& arguments, const cli::CommandLine& line) {
  const core::log::KeptWarnings warnings;  // for the report
  const config::Config config =
      config::read_config(arguments.config_path, arguments.assignments, arguments.dim);
  if (arguments.dim == 1) config::require_soundings_alone(config);
  const io::run::RunFolder folder(output_folder(arguments.output_folder, arguments.config_path));
  const io::run::WriteOptions files{
      .vtk = config.output.vtk, .report = config.output.report, .warnings = &warnings};
  std::optional<io::run::NewFolder> made;
  if (core::rank_of(comm) == 0) made.emplace(folder.path(), line.log_format());
  if (!arguments.dry_run) open_folder(comm, folder, arguments, line, made);
  core::log::info("{}", config.title);
  const physics::mt::Observations observed = observe(config.data, config.profile, arguments.dim);
  if (arguments.dim == 1) {
    echo_configuration(comm, folder, arguments, config, made);
    return io::run::write(comm, folder.path(), stitch_soundings(comm, config, observed), files);
  }
  if (arguments.dim == 2) require_profile(observed);
  inversion::Inversion run(comm, make_problem(comm, config, observed, arguments.dim),
                           config.inversion.method);
  if (config.uncertainty) run.assess(*config.uncertainty, io::hdf5::store(folder.ensemble()));
  if (config.output.modem) require_level(run.problem());
  if (arguments.dry_run) {
    const std::string cost = inversion::cost_in_words(run);
    core::on_rank_zero(comm, [&] { core::log::print_out(cost); });
    inversion::require_memory(run);
    return 0;
  }
  inversion::require_memory(run);
  core::StopRequests stop(comm, arguments.time_limit_min);
  run.set_stop([&stop] { return inversion::reason_of(stop()); });
  const core::StorePtr checkpoint = io::hdf5::store(folder.checkpoint());
  if (config.output.checkpoint) {
    run.keep(checkpoint);
  } else if (arguments.resume) {
    run.resume_from(*checkpoint);
  }
  echo_configuration(comm, folder, arguments, config, made);
  if (config.output.modem)
    core::on_rank_zero(comm, [&] {
      write_modem_start(folder, used(observed, run.problem().data), run.problem(),
                        config.regularization.covariance_file);
    });
  add_directives(run, comm, config, folder);
  const inversion::Outcome outcome = run.minimize();
  if (outcome.was_stopped()) {
    core::log::warning(core::log::Id("mt_invert#run_stopped"), "{}; go on with: {}", outcome.ending.text,
                       cli::resume_command("invert", arguments.config_path, arguments.assignments,
                                           folder.path().string(), arguments.dim));
    return static_cast<int>(outcome.ending.code);
  }
  const int code = io::run::write(comm, folder.path(), run, outcome, files);
  if (config.output.modem && outcome.predicted.size() > 0)
    core::on_rank_zero(comm, [&] { write_modem_end(folder, used(observed, run.problem().data), outcome); });
  core::log::debug("{}", core::TimerTotals::global().table());
  return code;
}

}  // namespace lodestone::mt_invert::commands
