// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/benchmarks/comparisons.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace lodestone::physics::mt::benchmarks {
namespace {

constexpr double relative_limit = 0.01, rho_limit = 2e-3, phase_limit_deg = 0.05;

Survey survey_of(const core::Table& table) {
  std::map<double, Station> stations;
  for (const double y_m : table.numbers("y_m"))
    stations[y_m] = Station{.name = fmt::format("y{:g}", y_m), .y_m = y_m};
  std::vector<Station> list;
  for (const auto& [y, station] : stations) list.push_back(station);
  using enum Datum;
  return full_survey(std::move(list), {1.0 / table.numbers("period_s").front()},
                     {log10_rho_xy, phase_xy, log10_rho_yx, phase_yx});
}

/// Returns the directions d ln σ = 1 in the host (column 0) and in the block (column 1): dρ = −ρ there.
Eigen::MatrixXd region_directions(const mesh::Model& section) {
  const Eigen::VectorXd rho = resistivity_ohm_m(section);
  Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(rho.size(), 2);
  const double block = rho.minCoeff();
  for (Eigen::Index i = 0; i < rho.size(); ++i) directions(i, rho[i] == block ? 1 : 0) = -rho[i];
  return directions;
}

core::Comparison compare(std::string what, double reference, double ours, double absolute_limit,
                         const char* units) {
  return {.what = std::move(what),
          .reference = reference,
          .ours = ours,
          .limit = relative_limit * std::abs(reference) + absolute_limit,
          .difference = ours - reference,
          .difference_units = units};
}

}  // namespace

std::vector<core::Comparison> compare_sensitivities(MPI_Comm comm, const mesh::Model& section,
                                                    const core::Table& reference, d2::Accuracy accuracy) {
  const auto& modes = reference.texts("mode");
  const auto &places_m = reference.numbers("y_m"), &regions = reference.numbers("region"),
             &d_ln_rho = reference.numbers("dln_rho_a_dln_sigma"),
             &d_phase_deg = reference.numbers("dphase_deg_dln_sigma");
  const Survey survey = survey_of(reference);
  const auto meshes = d2::design_meshes(section, survey, d2::design_options(accuracy));
  const auto simulation = d2::data_map(comm, section.earth, survey, meshes);
  const Eigen::MatrixXd derivative =
      simulation->linearize(resistivity_ohm_m(section))->jvp(region_directions(section));

  std::map<std::pair<Datum, double>, Eigen::Index> rows;
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& key = survey.keys[i];
    rows[{key.quantity, survey.stations[static_cast<std::size_t>(key.station)].y_m}] =
        static_cast<Eigen::Index>(i);
  }
  std::vector<core::Comparison> result;
  for (std::size_t i = 0; i < reference.n_rows(); ++i) {
    const bool te = modes[i] == "TE";
    const double y_m = places_m[i];
    const auto region = static_cast<Eigen::Index>(regions[i]) - 1;
    const std::string what = fmt::format("{} region {} y = {:g} m ", te ? "TE" : "TM", region + 1, y_m);
    const auto ours = [&](Datum of_te, Datum of_tm) {
      return derivative(rows.at({te ? of_te : of_tm, y_m}), region);
    };
    result.push_back(compare(what + "d ln rho_a", d_ln_rho[i],
                             ln10 * ours(Datum::log10_rho_xy, Datum::log10_rho_yx), rho_limit, ""));
    result.push_back(compare(what + "d phase", d_phase_deg[i],
                             deg_per_rad * ours(Datum::phase_xy, Datum::phase_yx), phase_limit_deg, "°"));
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
