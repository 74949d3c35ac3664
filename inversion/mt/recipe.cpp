// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/recipe.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "inversion/mt/cost.hpp"
#include "inversion/mt/start_models.hpp"
#include "inversion/mt/tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mesh = physics::mesh;
using physics::mt::Observations;
using physics::mt::ObservedData;
using physics::mt::StaticShiftKey;

void check_dimension(int dimension) {
  if (dimension != 2)
    throw core::InvalidArgument(
        "inversion::mt::problem#no_simulation",
        "expected 2 dimensions, which have a simulation for inversions, got {}; layered "
        "earths come from inversion::mt::stitch_soundings",
        dimension);
}

void check_sea(const ProblemOptions& options, const mesh::SurfaceLine& surface) {
  if (!options.sea) return;
  const double lowest_m = std::ranges::max(surface.z_m());
  if (options.sea->level_m >= lowest_m)
    throw core::ConfigError(
        "configuration#dry_sea",
        "{}: expected a sea with water in it, got level_m = {} and a surface that nowhere "
        "lies lower than z = {} m (z is down: a level above that is less); correct level_m, "
        "give the sea floor by profile.elevation = \"file\" or \"stations\", or remove [sea]",
        options.sea_place.empty() ? "sea" : options.sea_place, options.sea->level_m, lowest_m);
}

mesh::TensorGrid grid_of(const ProblemOptions& options, const ObservedData& data) {
  mesh::TensorGrid grid = options.cells ? *options.cells : design_grid(data, options.grid);
  core::log::info("grid: {} × {} cells, columns from {:.2f} km ({:.3f} km wide), layers to {:.2f} km",
                  grid.n_y(), grid.n_z(), grid.y_edges_m().front() / 1e3,
                  (grid.y_edges_m()[1] - grid.y_edges_m()[0]) / 1e3, grid.z_edges_m().back() / 1e3);
  return grid;
}

std::vector<StaticShiftKey> shifts_of(const ProblemOptions& options, const physics::mt::Survey& survey) {
  if (!options.static_shift) return {};
  auto shifts = static_shift_keys(survey, options.static_shift->modes);
  core::log::info("static shifts: {} unknowns, {:g} decades wide", shifts.size(),
                  options.static_shift->sigma_decades);
  return shifts;
}

/// Logs mean and spread of the shifts of each mode.
void log_static_shifts(const StaticShiftOptions& options, const std::vector<StaticShiftKey>& keys,
                       const Eigen::VectorXd& shifts) {
  for (const physics::mt::Mode mode : options.modes) {
    double sum = 0.0, squares = 0.0, n = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].mode != mode) continue;
      const double shift = shifts[static_cast<Eigen::Index>(i)];
      sum += shift;
      squares += shift * shift;
      n += 1.0;
    }
    if (n > 0.0)
      core::log::info(
          "static shifts, {}: mean {:+.3f}, root mean square {:.3f} decades over {:.0f} stations (prior "
          "{:g})",
          mode == physics::mt::Mode::te ? "TE" : "TM", sum / n, std::sqrt(squares / n), n,
          options.sigma_decades);
  }
}

/// Makes the tables of the final model: static shifts, meshes and their errors.
auto tables_of(std::shared_ptr<const Simulations> simulations, const ObservedData& data,
               std::vector<StaticShiftKey> shifts, std::optional<StaticShiftOptions> shift_options) {
  return [simulations = std::move(simulations), data, shifts = std::move(shifts),
          shift_options = std::move(shift_options)](const Eigen::VectorXd& model,
                                                    const Eigen::VectorXd& further) {
    std::vector<NamedTable> tables;
    if (!shifts.empty()) {
      log_static_shifts(*shift_options, shifts, further);
      tables.push_back(
          static_shift_table(data.survey.stations, shifts, further, shift_options->sigma_decades));
    }
    tables.push_back(mesh_table(simulations->meshes_of_results(model, data.survey)));
    if (simulations->options().certificate == CertificateOf::none) return tables;
    const auto certificate = simulations->certify(model, data.kept().survey);
    core::log::info("{}", certificate.table());
    if (!certificate.passed)
      core::log::warning("the certificate of the forward meshes fails; see the rows above");
    tables.push_back(certificate_table(certificate));
    return tables;
  };
}

/// Fills in what is the same for every way of inverting: texts, sites and frame.
template <class Target>
void describe(Target& target, const Observations& observed, double elevation_m) {
  target.about.facts = facts_of(observed.floors, observed.profile);
  target.sites = site_table(observed.survey.stations, observed.profile);
  target.frame = frame_of(observed.profile, elevation_m);
}

}  // namespace

Problem problem(MPI_Comm comm, const Observations& observed, const ProblemOptions& options) {
  check_dimension(options.dimension);
  const ObservedData data = observed.observed_data();
  const physics::mt::Ground ground = ground_under(observed, options.ground);
  check_sea(options, ground.surface);
  const mesh::Earth earth{grid_of(options, data), ground.surface, options.sea};
  StartModels models = start_models(options, data, earth);
  check_tears(options.tears, earth);
  std::vector<Eigen::Index> free_cells = hold_regions(options.fixed, earth.grid, models);
  auto simulations = std::make_shared<const Simulations>(comm, earth, options.forward);
  auto shifts = shifts_of(options, data.kept().survey);
  Problem out(earth, data_set(data), forward(simulations, data, shifts));
  out.forward.cost = cost_of(simulations, data.kept().survey);
  out.forward.tables = tables_of(simulations, data, shifts, options.static_shift);
  out.start = std::move(models.start);
  out.reference = std::move(models.reference);
  out.free_cells = std::move(free_cells);
  out.further.n = static_cast<Eigen::Index>(shifts.size());
  if (options.static_shift) out.further.sigma = options.static_shift->sigma_decades;
  for (const TearLine& each : options.tears) out.roughness.tears.push_back(each.tear);
  describe(out, observed, ground.elevation_m);
  return out;
}

Outcome stitch_soundings(MPI_Comm comm, const Observations& observed, const ProblemOptions& options,
                         About about) {
  const core::Provenance provenance = core::make_provenance(core::size_of(comm));
  const ObservedData data = observed.observed_data();
  const physics::mt::Ground ground = ground_under(observed, options.ground);
  const mesh::TensorGrid grid = grid_of(options, data);
  const std::vector<SoundingModel> models = invert_soundings(options.soundings, data, grid);
  Outcome out{.about = std::move(about), .earth = {grid, ground.surface}, .data = data_set(data)};
  describe(out, observed, ground.elevation_m);
  out.about.provenance = provenance;
  out.start = out.model = stitched(models, data.survey.stations, grid, ground.surface);
  out.predicted = responses_of(models, data.survey, grid);
  RmsSum sum;
  for (const double residual : normalized_residuals(out.data, out.predicted)) sum.add(residual);
  out.rms = sum.rms();
  out.target_rms = options.soundings.stop.target_rms;
  const auto n_reached = std::ranges::count(models, true, &SoundingModel::at_target);
  const bool all_reached = n_reached == std::ssize(models);
  out.reason = all_reached ? optimize::StopReason::target_reached : optimize::StopReason::stagnated;
  out.message = fmt::format("1-D: {} of {} soundings are at their target", n_reached, models.size());
  out.tables.push_back(sounding_table(models, data.survey.stations));
  out.ending = {all_reached ? core::ExitCode::ok : core::ExitCode::not_converged,
                fmt::format("{}; rms {:.4f} of all data with the responses of the layered earths",
                            out.message, out.rms)};
  out.about.provenance.finished_utc = core::utc_now();
  return out;
}

}  // namespace lodestone::inversion::mt
