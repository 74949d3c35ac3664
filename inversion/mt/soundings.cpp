// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/soundings.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::TensorGrid;

/// Heights of all rows but the last, which goes on without end.
std::vector<double> layer_thickness_m(const TensorGrid& grid) {
  std::vector<double> thickness;
  for (int iz = 0; iz + 1 < grid.n_z(); ++iz)
    thickness.push_back(grid.z_edges_m()[static_cast<std::size_t>(iz) + 1] -
                        grid.z_edges_m()[static_cast<std::size_t>(iz)]);
  return thickness;
}

/// Mean of log10 ρₐ; without any, 100 ohm m.
double mean_log10_rho(const physics::mt::Sounding& sounding) {
  double sum = 0.0, n = 0.0;
  for (std::size_t f = 0; f < sounding.frequencies_hz.size(); ++f) {
    if (sounding.kept[f] == 0) continue;
    sum += sounding.value[static_cast<Eigen::Index>(f)];
    n += 1.0;
  }
  return n > 0.0 ? sum / n : 2.0;
}

/// Equal cost of structure per decade of depth, as resolution falls.
Eigen::SparseMatrix<double> roughness_of_layers(const TensorGrid& grid) {
  const TensorGrid column = TensorGrid::section({0.0, 1.0}, grid.z_edges_m());
  return prior::roughness_operator(
      column, {.depth_weight_exponent = 1.0, .depth_weight_z0_m = grid.z_edges_m()[1] - grid.z_edges_m()[0]});
}

SoundingModel invert_one(const SoundingOptions& options, const physics::mt::Sounding& sounding,
                         const TensorGrid& grid) {
  const auto forward = std::make_shared<physics::mt::d1::Simulation>(
      layer_thickness_m(grid), sounding.frequencies_hz,
      std::vector{physics::mt::Quantity::log10_rho_xy, physics::mt::Quantity::phase_xy});
  std::vector<std::uint8_t> is_phase(sounding.kept.size(), 0);
  std::fill(is_phase.begin() + static_cast<std::ptrdiff_t>(is_phase.size() / 2), is_phase.end(),
            std::uint8_t{1});
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(grid.n_z(), mean_log10_rho(sounding));
  const optimize::Objective objective{
      .forward = forward,
      .misfit = {sounding.value, sounding.sigma, sounding.kept, std::move(is_phase)},
      .regularization = std::make_shared<objective::Regularization>(roughness_of_layers(grid), start)};
  const auto summary = optimize::GaussNewton(MPI_COMM_SELF, {.max_iterations = options.max_iterations,
                                                             .target_rms = options.target_rms})
                           .minimize(objective, start);
  if (!summary.usable())
    throw core::SolverError("inversion::mt::soundings", "a sounding has no model: {}", summary.message);
  return {.log10_resistivity = summary.model,
          .rms = summary.rms,
          .iterations = summary.history.back().iteration,
          .at_target = summary.reason == optimize::StopReason::target_reached};
}

void log_models(const std::vector<SoundingModel>& models, const std::vector<physics::mt::Station>& stations) {
  core::log::info("{:<12} {:>10} {:>8} {:>10}", "sounding", "y km", "rms", "iterations");
  for (const SoundingModel& model : models) {
    const auto& station = stations[static_cast<std::size_t>(model.station)];
    core::log::info("{:<12} {:>10.3f} {:>8.3f} {:>10}{}", station.name, station.y_m / 1e3, model.rms,
                    model.iterations, model.at_target ? "" : "  above the target");
  }
}

}  // namespace

std::vector<SoundingModel> invert_soundings(const SoundingOptions& options,
                                            const physics::mt::ObservedData& data, const TensorGrid& grid) {
  std::vector<SoundingModel> models;
  for (int station = 0; station < static_cast<int>(data.survey.stations.size()); ++station) {
    const physics::mt::Sounding sounding = physics::mt::sounding_of(data, station, options.mode);
    if (sounding.n_kept() == 0) {
      core::log::warning(
          "station {} has no apparent resistivity or phase of the mode asked for; it gets no sounding",
          data.survey.stations[static_cast<std::size_t>(station)].name);
      continue;
    }
    models.push_back(invert_one(options, sounding, grid));
    models.back().station = station;
  }
  if (models.empty())
    throw core::InvalidArgument(
        "inversion::mt::soundings",
        "expected a station with impedances to invert its sounding, got none; change soundings.mode");
  log_models(models, data.survey.stations);
  return models;
}

Eigen::VectorXd stitched(const std::vector<SoundingModel>& models,
                         const std::vector<physics::mt::Station>& stations, const TensorGrid& grid,
                         const physics::mesh::SurfaceLine& surface) {
  std::vector<const SoundingModel*> order;
  for (const SoundingModel& model : models) order.push_back(&model);
  const auto y_of = [&](const SoundingModel* model) {
    return stations[static_cast<std::size_t>(model->station)].y_m;
  };
  std::ranges::sort(order, {}, y_of);
  Eigen::VectorXd result(grid.n_cells());
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    const double y_m = grid.y_centre_m(iy);
    const auto right = std::ranges::upper_bound(order, y_m, {}, y_of);
    const SoundingModel& b = right == order.end() ? *order.back() : **right;
    const SoundingModel& a = right == order.begin() ? *order.front() : **(right - 1);
    const double share = &a == &b ? 0.0 : (y_m - y_of(&a)) / (y_of(&b) - y_of(&a));
    const bool draped = grid.reference() == physics::mesh::DepthReference::surface;
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      const double top_m = grid.z_edges_m().front(),
                   depth_m = grid.z_centre_m(iz) - (draped ? top_m : surface.z_at(y_m));
      const int layer = grid.row_of(top_m + depth_m);
      result[grid.index(iz, iy)] =
          (1.0 - share) * a.log10_resistivity[layer] + share * b.log10_resistivity[layer];
    }
  }
  return result;
}

Eigen::VectorXd responses_of(const std::vector<SoundingModel>& models, const physics::mt::Survey& survey,
                             const TensorGrid& grid) {
  std::vector<physics::mt::Quantity> quantities;
  constexpr physics::mt::Elements impedances{physics::mt::Element::zxy, physics::mt::Element::zyx};
  std::vector<int> place(physics::mt::n_datum_rows, -1);  // the others are 0 over a layered earth: the tipper
  for (std::size_t code = 0; code < place.size(); ++code) {
    const auto quantity = static_cast<physics::mt::Quantity>(code);
    if (!impedances.contains(physics::mt::rule_of(quantity).needs)) continue;
    place[code] = static_cast<int>(quantities.size());
    quantities.push_back(quantity);
  }
  const physics::mt::d1::Simulation simulation(layer_thickness_m(grid), survey.frequencies_hz, quantities);
  std::vector<Eigen::VectorXd> of_station(survey.stations.size());
  for (const SoundingModel& model : models)
    of_station[static_cast<std::size_t>(model.station)] = simulation.value(model.log10_resistivity);
  Eigen::VectorXd result(static_cast<Eigen::Index>(survey.keys.size()));
  for (std::size_t k = 0; k < survey.keys.size(); ++k) {
    const physics::mt::DatumKey& key = survey.keys[k];
    const Eigen::VectorXd& response = of_station[static_cast<std::size_t>(key.station)];
    const int row = place[static_cast<std::size_t>(key.quantity)];
    const auto n = static_cast<Eigen::Index>(survey.frequencies_hz.size());
    result[static_cast<Eigen::Index>(k)] = response.size() == 0 ? std::numeric_limits<double>::quiet_NaN()
                                           : row < 0            ? 0.0
                                                                : response[row * n + key.frequency];
  }
  return result;
}

void write_soundings(const std::string& path, const std::vector<SoundingModel>& models,
                     const std::vector<physics::mt::Station>& stations) {
  std::string text = "site,y_m,rms,iterations,at_target\n";
  for (const SoundingModel& model : models) {
    const auto& station = stations[static_cast<std::size_t>(model.station)];
    text += fmt::format("{},{},{},{},{}\n", station.name, station.y_m, model.rms, model.iterations,
                        model.at_target ? 1 : 0);
  }
  core::write_file(path, text);
}

}  // namespace lodestone::inversion::mt
