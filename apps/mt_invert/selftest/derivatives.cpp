// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace lodestone::mt_invert::selftest {
namespace {

namespace mt = physics::mt;

constexpr double min_taylor_order = 1.9;

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

/// Returns a hill of 200 m over cells of three resistivities, coarse enough for some seconds of work.
physics::mesh::Model small_volume() {
  physics::mesh::TensorGrid grid(physics::mesh::Edges{.x_m = {-3000, -1000, -300, 400, 3000},
                                                      .y_m = {-3000, -800, 200, 900, 3000},
                                                      .z_m = {0, 200, 600, 1500, 4000}});
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  resistivity[grid.index(1, 2, 1)] = 5.0;
  resistivity[grid.index(2, 1, 2)] = 1000.0;
  Eigen::MatrixXd z_m = Eigen::MatrixXd::Zero(4, 4);
  z_m.block(1, 1, 2, 2).setConstant(-200.0);
  return physics::mesh::resistivity_model(
      {std::move(grid), physics::mesh::Surface({-1000, -300, 300, 1000}, {-1100, -200, 250, 1000}, z_m)},
      std::move(resistivity));
}

mt::Survey small_map_survey() {
  std::vector<mt::Station> stations;
  for (const auto& [name, x_m, y_m] : {std::tuple{"top", 20.0, -50.0}, std::tuple{"slope", -600.0, 400.0}}) {
    mt::Station station{name, y_m};
    station.x_m = x_m;
    stations.push_back(station);
  }
  using mt::datum;
  return mt::full_survey(
      std::move(stations), {10.0, 1.0},
      {datum("zxx_re"), datum("zxx_im"), datum("zxy_re"), datum("zxy_im"), datum("zyx_re"), datum("zyx_im"),
       datum("zyy_re"), datum("zyy_im"), datum("tzx_re"), datum("tzx_im"), datum("tzy_re"), datum("tzy_im"),
       datum("log10_rho_xy"), datum("phase_xy"), datum("phase_tensor_xx"), datum("phase_tensor_xy"),
       datum("phase_tensor_yx"), datum("phase_tensor_yy")});
}

/// Tests the map of a model behind exp10, and judges both figures.
SelftestReport report_of(core::MapPtr data, const physics::mesh::Model& model, double max_adjoint_gap) {
  const auto map =
      core::compose(std::move(data), inversion::objective::exp10_map(model.earth.grid.n_cells()));
  const Eigen::VectorXd at = log10_resistivity(model);
  const auto taylor = core::check_derivative(*map, at, {.min_order = min_taylor_order});
  const auto adjoint = core::check_adjoint(*map, at, {.max_adjoint_gap = max_adjoint_gap});
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

}  // namespace

SelftestReport selftest_derivatives(MPI_Comm comm) {
  constexpr double max_adjoint_gap = 1e-10;
  const auto section = small_section();
  const auto survey = small_survey();
  const auto meshes =
      mt::d2::design_meshes(section, survey, mt::d2::design_options(mt::d2::Accuracy::iteration));
  return report_of(mt::d2::data_map(comm, section.earth, survey, meshes), section, max_adjoint_gap);
}

SelftestReport selftest_derivatives_3d(MPI_Comm comm) {
  constexpr double max_adjoint_gap = 1e-8, most_edges = 2e4;
  const auto volume = small_volume();
  const auto survey = small_map_survey();
  auto rules = mt::d3::design_options(mt::d3::Accuracy::iteration);
  rules.max_edges = most_edges;
  const mt::d3::SimulationOptions solving{
      .tolerance = 1e-12, .divergence_tolerance = 1e-12, .product_divergence_tolerance = 1e-12};
  return report_of(
      mt::d3::data_map(comm, volume.earth, survey, mt::d3::design_meshes(volume, survey, rules), solving),
      volume, max_adjoint_gap);
}

}  // namespace lodestone::mt_invert::selftest
