// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/soundings.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::TensorGrid;

/// Returns the heights of all rows but the last, which goes on without end.
std::vector<double> layer_thickness_m(const TensorGrid& grid) {
  std::vector<double> thickness;
  for (int iz = 0; iz + 1 < grid.n_z(); ++iz)
    thickness.push_back(grid.z_edges_m()[static_cast<std::size_t>(iz) + 1] -
                        grid.z_edges_m()[static_cast<std::size_t>(iz)]);
  return thickness;
}

/// Returns the mean of log10 ρₐ; without any, 100 ohm m.
double mean_log10_rho(const physics::mt::Sounding& sounding) {
  double sum = 0.0, n = 0.0;
  for (std::size_t f = 0; f < sounding.frequencies_hz.size(); ++f) {
    if (sounding.kept[f] == 0) continue;
    sum += sounding.value[static_cast<Eigen::Index>(f)];
    n += 1.0;
  }
  return n > 0.0 ? sum / n : 2.0;
}

/// Returns a roughness that costs as much in every decade of depth, as resolution falls.
Eigen::SparseMatrix<double> roughness_of_layers(const TensorGrid& grid) {
  const TensorGrid column = TensorGrid::section({0.0, 1.0}, grid.z_edges_m());
  return prior::roughness_operator(
      column, {.depth_weight_exponent = 1.0, .depth_weight_z0_m = grid.z_edges_m()[1] - grid.z_edges_m()[0]});
}

SoundingModel invert_one(const SoundingOptions& options, const physics::mt::Sounding& sounding,
                         const TensorGrid& grid) {
  const auto forward = physics::mt::d1::data_map(
      layer_thickness_m(grid),
      physics::mt::full_survey({{"sounding"}}, sounding.frequencies_hz,
                               {physics::mt::Datum::log10_rho_xy, physics::mt::Datum::phase_xy}));
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(grid.n_z(), mean_log10_rho(sounding));
  const optimize::Objective objective{
      .forward = forward,
      .misfit = objective::DataMisfit(sounding.data_set()),
      .regularization = std::make_shared<objective::Regularization>(roughness_of_layers(grid), start)};
  const auto summary =
      optimize::GaussNewton(MPI_COMM_SELF, {.stop = options.stop}).minimize(objective, start);
  if (!summary.usable())
    throw core::SolverError("inversion::mt::soundings#no_model", "a sounding has no model: {}",
                            summary.message);
  return {.log10_resistivity = summary.model,
          .rms = summary.rms,
          .iterations = summary.history.back().iteration,
          .at_target = summary.reason == optimize::StopReason::target_reached};
}

/// Inverts the soundings; `left_out` hears of stations without one.
std::vector<SoundingModel> models_of(const SoundingOptions& options, const physics::mt::Observations& data,
                                     const TensorGrid& grid, const std::function<void(int)>& left_out) {
  std::vector<SoundingModel> models;
  for (int station = 0; station < static_cast<int>(data.survey.stations.size()); ++station) {
    const physics::mt::Sounding sounding = physics::mt::sounding_of(data, station, options.mode);
    if (sounding.n_kept() == 0) {
      left_out(station);
      continue;
    }
    models.push_back(invert_one(options, sounding, grid));
    models.back().station = station;
  }
  return models;
}

void log_models(const std::vector<SoundingModel>& models, const std::vector<physics::mt::Station>& stations) {
  core::log::info("{:<12} {:>10} {:>8} {:>10}", "sounding", "y km", "rms", "iterations");
  for (const SoundingModel& model : models) {
    const auto& station = stations[static_cast<std::size_t>(model.station)];
    core::log::info("{:<12} {:>10.3f} {:>8.3f} {:>10}{}", station.name, station.y_m / 1e3, model.rms,
                    model.iterations, model.at_target ? "" : "  above the target");
  }
}

/// Layered earths between soundings.
class Between {
 public:
  Between(const std::vector<SoundingModel>& models, const std::vector<physics::mt::Station>& stations,
          int dimension)
      : is_map_(dimension == 3) {
    for (const SoundingModel& model : models) {
      const physics::mt::Station& station = stations[static_cast<std::size_t>(model.station)];
      soundings_.push_back({is_map_ ? station.x_m : 0.0, station.y_m, &model.log10_resistivity});
    }
    std::ranges::stable_sort(soundings_, {}, &Sounding::y_m);
  }
  /// Returns the layers under a place. shape: (n_z).
  [[nodiscard]] Eigen::VectorXd at(double x_m, double y_m) const {
    return is_map_ ? on_map(x_m, y_m) : on_profile(y_m);
  }

 private:
  struct Sounding {
    double x_m, y_m;
    const Eigen::VectorXd* layers;
  };
  [[nodiscard]] Eigen::VectorXd on_profile(double y_m) const {
    const auto right = std::ranges::upper_bound(soundings_, y_m, {}, &Sounding::y_m);
    const Sounding& b = right == soundings_.end() ? soundings_.back() : *right;
    const Sounding& a = right == soundings_.begin() ? soundings_.front() : *(right - 1);
    const double share = &a == &b ? 0.0 : (y_m - a.y_m) / (b.y_m - a.y_m);
    return (1.0 - share) * *a.layers + share * *b.layers;
  }
  [[nodiscard]] Eigen::VectorXd on_map(double x_m, double y_m) const {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(soundings_.front().layers->size());
    double weights = 0.0;
    for (const Sounding& each : soundings_) {
      const double squared_m2 = (each.x_m - x_m) * (each.x_m - x_m) + (each.y_m - y_m) * (each.y_m - y_m);
      if (squared_m2 == 0.0) return *each.layers;
      sum += *each.layers / squared_m2;
      weights += 1.0 / squared_m2;
    }
    return sum / weights;
  }
  bool is_map_;
  std::vector<Sounding> soundings_;
};

}  // namespace

bool has_soundings(const SoundingOptions& options, const physics::mt::Observations& data) {
  for (int station = 0; station < static_cast<int>(data.survey.stations.size()); ++station) {
    if (physics::mt::sounding_of(data, station, options.mode).n_kept() > 0) return true;
  }
  return false;
}

std::vector<SoundingModel> invert_soundings(const SoundingOptions& options,
                                            const physics::mt::Observations& data, const TensorGrid& grid) {
  const std::vector<SoundingModel> models = models_of(options, data, grid, [&](int station) {
    core::log::warning(
        core::log::Id("inversion::mt::soundings#no_sounding"),
        "station {} has no apparent resistivity or phase of the chosen mode; it gets no sounding",
        data.survey.stations[static_cast<std::size_t>(station)].name);
  });
  if (models.empty())
    throw core::InvalidArgument("inversion::mt::soundings",
                                "expected a station with impedances to invert its sounding, but no station "
                                "has them; change soundings.mode");
  log_models(models, data.survey.stations);
  return models;
}

std::optional<Eigen::VectorXd> likely_section(SoundingOptions options, const physics::mt::Observations& data,
                                              const physics::mesh::Earth& earth) try {
  const auto section_of = [&](physics::mt::SoundingMode mode) -> std::optional<Eigen::VectorXd> {
    options.mode = mode;
    const std::vector<SoundingModel> models = models_of(options, data, earth.grid, [](int) {});
    if (models.empty()) return {};
    return stitched(models, data.survey.stations, earth.grid, earth.surface);
  };
  auto te = section_of(physics::mt::SoundingMode::te), tm = section_of(physics::mt::SoundingMode::tm);
  if (!te || !tm) return te ? te : tm;
  // Where the modes differ there is structure within a few cells: columns lean to one and the other by turns
  constexpr double lean = 0.6;
  Eigen::VectorXd section = 0.5 * (*te + *tm);
  for (int iy = 0; iy < earth.grid.n_y(); ++iy) {
    const double side = iy % 2 == 0 ? -0.5 * lean : 0.5 * lean;
    for (int iz = 0; iz < earth.grid.n_z(); ++iz) {
      const Eigen::Index cell = earth.grid.index(iz, iy);
      section[cell] += side * ((*te)[cell] - (*tm)[cell]);
    }
  }
  return section.cwiseMax(-1.0).cwiseMin(5.0);  // layers that no datum sees go to extremes
} catch (const core::SolverError&) {
  return {};
}

Eigen::VectorXd stitched(const std::vector<SoundingModel>& models,
                         const std::vector<physics::mt::Station>& stations, const TensorGrid& grid,
                         const physics::mesh::Surface& surface) {
  if (grid.dimension() < 2)
    throw core::InvalidArgument(
        "inversion::mt::stitched#no_columns",
        "expected a grid with the axis y, as soundings are interpolated between stations, got layers alone; "
        "start from a half-space or a model");
  const Between between(models, stations, grid.dimension());
  const bool draped = grid.reference() == physics::mesh::DepthReference::surface;
  const double top_m = grid.z_edges_m().front();
  Eigen::VectorXd result(grid.n_cells());
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    for (int ix = 0; ix < grid.n_x(); ++ix) {
      const double x_m = grid.centre_m(physics::mesh::Axis::x, ix), y_m = grid.y_centre_m(iy);
      const Eigen::VectorXd column = between.at(x_m, y_m);
      for (int iz = 0; iz < grid.n_z(); ++iz) {
        const double depth_m = grid.z_centre_m(iz) - (draped ? top_m : surface.z_at(x_m, y_m));
        result[grid.index(iz, iy, ix)] = column[grid.row_of(top_m + depth_m)];
      }
    }
  }
  return result;
}

Eigen::VectorXd responses_of(const std::vector<SoundingModel>& models, const physics::mt::Survey& survey,
                             const TensorGrid& grid) {
  using physics::mt::d1::Simulation;
  Eigen::VectorXd result = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(survey.keys.size()),
                                                     std::numeric_limits<double>::quiet_NaN());
  for (const SoundingModel& model : models) {
    physics::mt::Survey sounding{{{"sounding"}}, survey.frequencies_hz, {}};
    std::vector<Eigen::Index> rows;
    for (std::size_t k = 0; k < survey.keys.size(); ++k) {
      const physics::mt::DatumKey& key = survey.keys[k];
      if (key.station != model.station) continue;
      const auto row = static_cast<Eigen::Index>(k);
      if (determines(Simulation::predicted_elements, physics::mt::rule_of(key.quantity))) {
        sounding.keys.push_back({key.quantity, key.frequency, 0});
        rows.push_back(row);
      } else {
        result[row] = 0.0;  // over a layered earth, as the tipper
      }
    }
    if (rows.empty()) continue;
    result(rows) =
        physics::mt::d1::data_map(layer_thickness_m(grid), sounding)->value(model.log10_resistivity);
  }
  return result;
}

}  // namespace lodestone::inversion::mt
