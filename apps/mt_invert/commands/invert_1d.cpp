// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/invert_1d.hpp"

#include "apps/mt_invert/method/earth.hpp"
#include "apps/mt_invert/method/run_results.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "inversion/mt/soundings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::mt_invert::commands {
namespace {

namespace mt = physics::mt;

/// Keys that only mean something in two dimensions.
void warn_of_unused(const config::Config& config) {
  const auto& smoothness = config.regularization;
  if (config.static_shift || !smoothness.tears.empty() || !smoothness.fixed.empty() || config.bounds ||
      config.uncertainty || config.learned_prior)
    core::log::warning(
        "[static_shift], [bounds], [uncertainty], [learned_prior], tears and fixed regions do not apply to "
        "--dim 1 and are left out");
}

/// Only where a layered earth stands are there responses to compare with.
double rms_of(const mt::ObservedData& data, const Eigen::VectorXd& predicted) {
  double sum = 0.0, n = 0.0;
  for (std::size_t k = 0; k < data.mask.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    if (data.mask[k] != mt::MaskReason::kept || !std::isfinite(predicted[i])) continue;
    const mt::DatumRule& rule = mt::rule_of(data.survey.keys[k].quantity);
    sum += std::pow(mt::difference(rule, data.value[i], predicted[i]) / data.sigma[i], 2);
    n += 1.0;
  }
  return std::sqrt(sum / n);
}

io::run::InversionResult describe_soundings(const config::Config& config,
                                            const method::Observations& observations,
                                            const physics::mesh::TensorGrid& grid,
                                            const std::vector<inversion::mt::SoundingModel>& models) {
  io::run::InversionResult result;
  result.title = config.title;
  result.configuration_toml = config.toml;
  result.data = observations.data;
  result.floors = config.data.floors;
  result.earth = {grid, observations.surface};
  result.profile = observations.geometry;
  result.log10_resistivity =
      inversion::mt::stitched(models, observations.data.survey.stations, grid, observations.surface);
  result.start_log10_resistivity = result.log10_resistivity;
  result.predicted = inversion::mt::responses_of(models, observations.data.survey, grid);
  result.rms = rms_of(observations.data, result.predicted);
  result.target_rms = config.soundings.target_rms;
  const auto n_reached = std::ranges::count(models, true, &inversion::mt::SoundingModel::at_target);
  result.stop_reason =
      n_reached == static_cast<std::ptrdiff_t>(models.size()) ? "target reached" : "stagnated";
  result.stop_message = fmt::format("1-D: {} of {} soundings are at their target", n_reached, models.size());
  return result;
}

}  // namespace

int run_invert_1d(MPI_Comm comm, const config::Config& config, const io::run::RunFolder& folder,
                  const cli::CommandLine& line) {
  warn_of_unused(config);
  io::run::Provenance provenance = io::run::make_provenance(line.as_typed, core::size_of(comm));
  const method::Observations observations = method::load_observations(config.data, config.profile);
  const physics::mesh::TensorGrid grid = method::grid_of(config, observations.data);
  const std::vector<inversion::mt::SoundingModel> models =
      inversion::mt::invert_soundings(config.soundings, observations.data, grid);
  io::run::InversionResult result = describe_soundings(config, observations, grid, models);
  result.provenance = std::move(provenance);
  result.provenance.finished_utc = io::run::utc_now();
  core::on_rank_zero(comm, [&] {
    inversion::mt::write_soundings(folder.soundings(), models, observations.data.survey.stations);
    method::write_run_files(config, folder, result);
  });
  core::log::info("{}; rms {:.4f} of all data with the responses of the layered earths", result.stop_message,
                  result.rms);
  const bool all_reached = result.stop_reason == "target reached";
  return static_cast<int>(all_reached ? core::ExitCode::ok : core::ExitCode::not_converged);
}

}  // namespace lodestone::mt_invert::commands
