// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/data.hpp"
#include "apps/mt_invert/selftest/models.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace lodestone::mt_invert::selftest {
namespace {

namespace mt = physics::mt;

constexpr double relative_limit = 0.01, rho_limit = 2e-3, phase_limit_deg = 0.05;

mt::Survey survey_of(const BenchmarkTable& table) {
  std::map<double, mt::Station> stations;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    mt::Station station;
    station.y_m = table.number(i, "y_m");
    station.name = fmt::format("y{:g}", station.y_m);
    stations[station.y_m] = station;
  }
  std::vector<mt::Station> list;
  for (const auto& [y, station] : stations) list.push_back(station);
  using enum mt::Datum;
  return mt::full_survey(std::move(list), {1.0 / table.number(0, "period_s")},
                         {log10_rho_xy, phase_xy, log10_rho_yx, phase_yx});
}

/// Directions d ln σ = 1 in the host (column 0) and in the block (column 1): dρ = −ρ there.
Eigen::MatrixXd region_directions(const physics::mesh::Model& section) {
  const Eigen::VectorXd rho = resistivity_ohm_m(section);
  Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(rho.size(), 2);
  const double block = rho.minCoeff();
  for (Eigen::Index i = 0; i < rho.size(); ++i) directions(i, rho[i] == block ? 1 : 0) = -rho[i];
  return directions;
}

SelftestRow compare(std::string what, double reference, double ours, double absolute_limit,
                    const char* units) {
  SelftestRow row;
  row.what = std::move(what);
  row.reference = reference;
  row.ours = ours;
  row.difference = ours - reference;
  row.difference_units = units;
  row.limit = relative_limit * std::abs(reference) + absolute_limit;
  return row;
}

}  // namespace

SelftestReport selftest_sensitivity(MPI_Comm comm, mt::d2::Accuracy accuracy) {
  const BenchmarkModel model = benchmark_model("commemi2d1");
  const BenchmarkTable table(data_file("benchmarks/sensitivity2d.csv"));
  const mt::Survey survey = survey_of(table);
  const auto meshes = mt::d2::design_meshes(model.section, survey, mt::d2::design_options(accuracy));
  const auto simulation = mt::d2::data_map(comm, model.section.earth, survey, meshes);
  const Eigen::MatrixXd derivative =
      simulation->linearize(resistivity_ohm_m(model.section))->jvp(region_directions(model.section));

  std::map<std::pair<mt::Datum, double>, Eigen::Index> rows;
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& key = survey.keys[i];
    rows[{key.quantity, survey.stations[static_cast<std::size_t>(key.station)].y_m}] =
        static_cast<Eigen::Index>(i);
  }
  SelftestReport report;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const bool te = table.text(i, "mode") == "TE";
    const double y_m = table.number(i, "y_m");
    const auto region = static_cast<Eigen::Index>(table.number(i, "region")) - 1;
    const std::string what = fmt::format("{} region {} y = {:g} m ", te ? "TE" : "TM", region + 1, y_m);
    const double d_ln_rho =
        mt::ln10 * derivative(rows.at({te ? mt::Datum::log10_rho_xy : mt::Datum::log10_rho_yx, y_m}), region);
    const double d_phase_deg =
        mt::deg_per_rad * derivative(rows.at({te ? mt::Datum::phase_xy : mt::Datum::phase_yx, y_m}), region);
    report.rows.push_back(
        compare(what + "d ln rho_a", table.number(i, "dln_rho_a_dln_sigma"), d_ln_rho, rho_limit, ""));
    report.rows.push_back(compare(what + "d phase", table.number(i, "dphase_deg_dln_sigma"), d_phase_deg,
                                  phase_limit_deg, "°"));
  }
  return report;
}

}  // namespace lodestone::mt_invert::selftest
