// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::selftest {
namespace {

namespace mt = physics::mt;

constexpr double min_taylor_order = 1.9, max_adjoint_gap = 1e-10;

/// Returns a hill with a conductor under it, coarse enough for a second of work.
physics::mesh::Model small_section() {
  physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({-4000, -1500, -500, 500, 1500, 4000}, {0, 200, 600, 1500, 4000});
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  resistivity[grid.index(1, 2)] = 5.0;
  resistivity[grid.index(2, 3)] = 1000.0;
  return physics::mesh::resistivity_model(
      {std::move(grid), physics::mesh::SurfaceLine({-1000, -200, 200, 1000}, {0, -200, -200, 0})},
      std::move(resistivity));
}

mt::Survey small_survey() {
  std::vector<mt::Station> stations;
  for (const double y_m : {-900.0, -50.0, 620.0}) {
    mt::Station station;
    station.name = y_m < -500.0 ? "west" : y_m < 500.0 ? "top" : "east";
    station.y_m = y_m;
    stations.push_back(station);
  }
  using enum mt::Datum;
  return mt::full_survey(
      std::move(stations), {10.0, 1.0},
      {zxy_re, zxy_im, zyx_re, zyx_im, tzy_re, tzy_im, log10_rho_xy, phase_xy, log10_rho_yx, phase_yx});
}

}  // namespace

SelftestReport selftest_derivatives(MPI_Comm comm) {
  const auto section = small_section();
  const auto survey = small_survey();
  const auto meshes =
      mt::d2::design_meshes(section, survey, mt::d2::design_options(mt::d2::Accuracy::iteration));
  const auto simulation = mt::d2::data_map(comm, section.earth, survey, meshes);
  const auto map = core::compose(simulation, inversion::objective::exp10_map(section.earth.grid.n_cells()));
  const Eigen::VectorXd model = log10_resistivity(section);
  const auto taylor = core::check_derivative(*map, model, {.min_order = min_taylor_order});
  const auto adjoint = core::check_adjoint(*map, model, {.max_adjoint_gap = max_adjoint_gap});

  SelftestReport report;
  report.rows.push_back({.what = "Taylor order (missing to 2)",
                         .units = {},
                         .reference = 2.0,
                         .ours = taylor.figure,
                         .limit = 2.0 - min_taylor_order,
                         .difference = std::max(0.0, 2.0 - taylor.figure),
                         .difference_units = {}});
  report.rows.push_back({.what = "adjoint gap",
                         .units = {},
                         .reference = 0.0,
                         .ours = adjoint.figure,
                         .limit = max_adjoint_gap,
                         .difference = adjoint.figure,
                         .difference_units = {}});
  return report;
}

}  // namespace lodestone::mt_invert::selftest
