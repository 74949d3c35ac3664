// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_checks.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/edge_averages.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/small_volume.hpp"
#include "tests/support/solve_tolerances.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using tests::error_of;
using tests::HasId;
using tests::response_of;

namespace {

Station at(std::string name, double x_m, double y_m, Definition definition = Definition::horizontal) {
  Station station{std::move(name), y_m};
  station.x_m = x_m;
  station.definition = definition;
  return station;
}

/// Lines through all edges of `small_volume`, with thin layers of air.
fem::EdgeGrid aligned_grid() {
  return fem::EdgeGrid(
      {{{-40000, -12000, -4500, -2000, -1300, -600, -50, 500, 1200, 2000, 4500, 12000, 40000},
        {-40000, -12000, -4500, -1500, -900, -400, 150, 700, 1300, 2000, 4500, 12000, 40000},
        {-50000, -18000, -7000, -2500, -800, -250, -70,  -20,  -7,   -3,    -1,
         0,      60,     150,   300,   600,  1000, 1800, 3000, 6000, 15000, 40000}}});
}
d3::MeshSet aligned_meshes(const mesh::Model& model) {
  return {{{.frequencies = {0, 1}, .grid = aligned_grid()}}, model.values};
}
Eigen::VectorXd level_nodes() { return fem::ReliefGrid(aligned_grid()).node_z_m(); }

/// `small_volume` under a hill with a saddle, draped or with level layers.
mesh::Model hilly_volume(mesh::DepthReference reference) {
  auto model = tests::small_volume();
  model.earth.grid = mesh::TensorGrid(model.earth.grid.edges(), reference);
  Eigen::MatrixXd z(4, 4);
  z << 0, 0, 0, 0, 0, -500, -100, 0, 0, -200, -400, 0, 0, 0, 0, 0;
  model.earth.surface = mesh::Surface({-2500, -800, 700, 2500}, {-2500, -700, 800, 2500}, z);
  return model;
}
std::shared_ptr<const d3::Simulation> simulation_of(const mesh::Model& model,
                                                    std::vector<Station> stations = tests::volume_stations(),
                                                    const d3::SimulationOptions& options = {}) {
  const Survey survey{stations, tests::volume_frequencies_hz(), {}};
  return std::make_shared<const d3::Simulation>(
      MPI_COMM_SELF, model.earth, tests::full_layout(2, static_cast<int>(stations.size())), stations,
      survey.frequencies_hz, d3::design_meshes(model, survey, tests::coarse_design()), options);
}

}  // namespace

TEST_CASE("3-D relief: on level nodes the answers are those of the flat operator", "[physics][mt]") {
  const auto model = tests::small_volume();
  const auto layout = tests::full_layout(2, 2, d3::Simulation::predicted_elements);
  const d3::SimulationOptions tight{.tolerance = 1e-11, .divergence_tolerance = 1e-11};
  const auto value = [&](const d3::MeshSet& meshes) {
    return Eigen::VectorXd(d3::Simulation(MPI_COMM_SELF, model.earth, layout, tests::volume_stations(),
                                          tests::volume_frequencies_hz(), meshes, tight)
                               .value(model.values));
  };
  auto meshes = aligned_meshes(model);
  const Eigen::VectorXd flat = value(meshes);
  meshes.bands[0].node_z_m = level_nodes();
  const Eigen::VectorXd relief = value(meshes);
  for (int f = 0; f < 2; ++f) {
    for (int s = 0; s < 2; ++s) {
      const double scale = std::abs(response_of(layout, flat, {Element::zxy, f, s}));
      for (const Element element : all_elements) {
        const Complex a = response_of(layout, relief, {element, f, s}),
                      b = response_of(layout, flat, {element, f, s});
        CHECK(std::abs(a - b) < 1e-6 * (is_impedance(element) ? scale : 1.0));
      }
    }
  }
}

TEST_CASE("3-D relief: a level surface at another depth gives the answers of the one at zero",
          "[physics][mt]") {
  const auto model = tests::small_volume();
  auto deeper = model;
  mesh::Edges edges = model.earth.grid.edges();
  for (double& z : edges.z_m) z += 250.0;
  deeper.earth = {mesh::TensorGrid(edges, mesh::DepthReference::datum), mesh::Surface(250.0)};
  const Eigen::VectorXd a = simulation_of(model)->value(model.values),
                        b = simulation_of(deeper)->value(model.values);
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-6 * a.cwiseAbs().maxCoeff());
}

TEST_CASE("3-D relief: derivatives pass the Taylor and the adjoint test", "[physics][mt]") {
  const auto reference = GENERATE(mesh::DepthReference::surface, mesh::DepthReference::datum);
  const auto model = hilly_volume(reference);
  const auto simulation = simulation_of(
      model, {at("a", -90, 130), at("b", 800, -700, Definition::slope_parallel)},
      {.tolerance = 1e-11, .divergence_tolerance = 1e-11, .product_divergence_tolerance = 1e-11});
  const Eigen::VectorXd x = model.values.array().pow(1.05);
  const auto derivative = core::check_derivative(*simulation, x);
  INFO(derivative.figure);
  CHECK(derivative.passed);
  const auto adjoint = core::check_adjoint(*simulation, x, {.max_adjoint_gap = 1e-8});
  INFO(adjoint.figure);
  CHECK(adjoint.passed);
  const auto linearization = simulation->linearize(x);
  const Eigen::MatrixXd jacobian = linearization->jacobian();
  const Eigen::VectorXd direction = Eigen::VectorXd::LinSpaced(x.size(), -1.0, 2.0);
  const Eigen::VectorXd by_product = linearization->jvp(direction);
  CHECK((jacobian * direction - by_product).norm() < 1e-7 * by_product.norm());
}

TEST_CASE("3-D relief: responses within the tolerances of iterations are those of exact solves",
          "[physics][mt]") {
  const auto model = hilly_volume(mesh::DepthReference::surface);
  tests::check_tolerances_of_iterations(
      [&](const d3::SimulationOptions& options) {
        return simulation_of(model, tests::volume_stations(), options);
      },
      model.values);
}

TEST_CASE("3-D relief: nodes lie on the surface, and layers are level at depth and height", "[physics][mt]") {
  const auto model = hilly_volume(mesh::DepthReference::datum);
  const fem::EdgeGrid lines = aligned_grid();
  const fem::ReliefGrid grid(lines, d3::node_depths_m(model.earth, lines));
  CHECK(grid.z_m(6, 6, 11) == Approx(model.earth.surface.z_at(-50, 150)));
  CHECK(grid.z_m(6, 6, 0) == -50000.0);
  CHECK(grid.z_m(6, 6, 16) == 1000.0);  // an edge of the model, from where layers are level
  const auto draped = hilly_volume(mesh::DepthReference::surface);
  const fem::ReliefGrid follows(lines, d3::node_depths_m(draped.earth, lines));
  CHECK(follows.z_m(6, 6, 16) == Approx(1000.0 + model.earth.surface.z_at(-50, 150)));
  const d3::CellAverages averages(draped.earth, follows, 11);
  const Eigen::VectorXd sigma = averages.conductivities(draped.values);
  CHECK(sigma[lines.cell(4, 4, 12)] == Approx(1.0 / draped.values[draped.earth.grid.index(0, 0, 0)]));
  CHECK(sigma[lines.cell(4, 4, 10)] == d3::air_conductivity);
  const core::SparseRows derivative = averages.derivative(draped.values);
  const Eigen::VectorXd more = averages.conductivities(draped.values * 1.001);
  CHECK((derivative * (0.001 * draped.values) - (more - sigma)).norm() < 2e-3 * (more - sigma).norm());
}

TEST_CASE("3-D relief: a ridge along x agrees with two dimensions, horizontal and along the slope",
          "[physics][mt]") {
  // A ridge 300 m high with slopes of 30° and a conductor at its side.
  const std::vector<double> y{-6000, -1500, -300, 900, 8000}, z{0, 200, 900, 8000};
  const auto resistivity = [](int iz, int iy) { return iy == 2 && iz == 1 ? 20.0 : iz == 2 ? 300.0 : 100.0; };
  const mesh::TensorGrid section = mesh::TensorGrid::section(y, z),
                         volume(mesh::Edges{.x_m = {-1000, 0, 1000}, .y_m = y, .z_m = z});
  const double run = 300.0 / std::tan(30.0 / deg_per_rad);
  const mesh::SurfaceLine ridge({-run - 200, -200, 200, 200 + run}, {0, -300, -300, 0});
  Eigen::VectorXd flat(section.n_cells()), deep(volume.n_cells());
  for (int iz = 0; iz < 3; ++iz) {
    for (int iy = 0; iy < 4; ++iy) {
      flat[section.index(iz, iy)] = resistivity(iz, iy);
      for (int ix = 0; ix < 2; ++ix) deep[volume.index(iz, iy, ix)] = resistivity(iz, iy);
    }
  }
  std::vector<Station> stations;
  for (const double place : {-1500.0, -460.0, 20.0, 460.0, 1300.0}) {
    for (const Definition definition : {Definition::horizontal, Definition::slope_parallel})
      stations.push_back(
          at("s", 3.0, place + (definition == Definition::horizontal ? 0.0 : 5.0), definition));
  }
  const Survey survey{stations, {10.0}, {}};
  std::vector<ResponseKey> keys;
  for (const Element element : {Element::zxy, Element::zyx, Element::tzy}) {
    for (int s = 0; s < static_cast<int>(stations.size()); ++s) keys.push_back({element, 0, s});
  }
  const ResponseLayout layout(keys);
  const auto section_model = mesh::resistivity_model({section, ridge}, flat),
             volume_model = mesh::resistivity_model({volume, ridge}, deep);
  const d2::Simulation reference(
      MPI_COMM_SELF, section_model.earth, layout, survey.stations, survey.frequencies_hz,
      d2::design_meshes(section_model, survey, d2::design_options(d2::Accuracy::fine)));
  auto options = d3::design_options(d3::Accuracy::standard);
  options.growth = 1.2;
  const auto meshes = d3::design_meshes(volume_model, survey, options);
  const d3::Simulation simulation(MPI_COMM_SELF, volume_model.earth, layout, survey.stations,
                                  survey.frequencies_hz, meshes);
  const Eigen::VectorXd ours = simulation.value(deep), theirs = reference.value(flat);
  UNSCOPED_INFO(meshes.summary());
  for (const ResponseKey& key : layout.keys()) {
    const Complex a = response_of(layout, ours, key), b = response_of(layout, theirs, key);
    INFO("element " << static_cast<int>(key.element) << " at y = " << stations[key.station].y_m << ": " << a
                    << ", in two dimensions " << b << ", |ratio| " << std::abs(a / b));
    if (is_tipper(key.element)) {
      CHECK(std::abs(a - b) < 0.005);
    } else {
      CHECK(std::abs(a / b - 1.0) < 0.01);
    }
  }
}

TEST_CASE("3-D relief: level meshes under a hill and air below its top are errors", "[physics][mt]") {
  const auto model = hilly_volume(mesh::DepthReference::surface);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)d3::Simulation(MPI_COMM_SELF, model.earth, tests::full_layout(2, 2),
                                    tests::volume_stations(), tests::volume_frequencies_hz(),
                                    aligned_meshes(model));
             }),
             HasId("level_mesh", {"-500"}));
  const fem::EdgeGrid low({{{-3000, 0, 3000}, {-3000, 0, 3000}, {-400, -100, 0, 100, 200}}});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)d3::node_depths_m(model.earth, low); }),
             HasId("low_air", {"500", "400"}));
}
