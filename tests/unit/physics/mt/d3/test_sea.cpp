// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_checks.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/certificate.hpp"
#include "physics/mt/d3/edge_averages.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/small_volume.hpp"
#include "tests/support/solve_tolerances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using tests::error_of;
using tests::HasId;
using tests::response_of;

namespace {

Station at(double x_m, double y_m, Definition definition = Definition::horizontal) {
  Station station{fmt::format("{}, {}, {}", x_m, y_m, core::word(definition)), y_m};
  station.x_m = x_m;
  station.definition = definition;
  return station;
}

/// Two layers below a surface, the same under all of it.
mesh::Model two_layers(mesh::Surface surface, double upper, double lower, mesh::Sea sea) {
  const mesh::TensorGrid grid(mesh::Edges{
      .x_m = {-20000.0, 0.0, 20000.0}, .y_m = {-20000.0, 0.0, 20000.0}, .z_m = {0.0, 2000.0, 4000.0}});
  Eigen::VectorXd cells = Eigen::VectorXd::Constant(grid.n_cells(), lower);
  cells.head(grid.n_columns()).setConstant(upper);
  return mesh::resistivity_model({grid, std::move(surface), sea}, cells);
}

/// Land for y < 0, a floor that falls to 900 m at 3 km and rises to 500 m at 6 km.
mesh::SurfaceLine coast() {
  return mesh::SurfaceLine({-2000.0, 0.0, 3000.0, 6000.0, 9000.0}, {0.0, 0.0, 900.0, 500.0, 500.0});
}

/// `small_volume` under an island in a sea 300 m deep.
mesh::Model island() {
  auto model = tests::small_volume();
  Eigen::MatrixXd z(4, 4);
  z << 300, 300, 300, 300, 300, -200, 80, 300, 300, -50, 200, 300, 300, 300, 300, 300;
  model.earth.surface = mesh::Surface({-2500, -800, 700, 2500}, {-2500, -700, 800, 2500}, z);
  model.earth.sea = mesh::Sea{0.0, 0.3};
  return model;
}

/// Land for y < 0, a shelf as deep as given to 6 km, a slope, and a basin 3000 m deep from 16 km.
mesh::SurfaceLine shelf(double depth_m) {
  return mesh::SurfaceLine({-4000.0, 0.0, 500.0, 6000.0, 16000.0, 20000.0},
                           {-50.0, 0.0, depth_m, depth_m, 3000.0, 3000.0});
}

/// Responses of a section whose surface is that of `two_layers` along y, on fine meshes of two dimensions.
struct Section {
  ResponseLayout layout;
  Eigen::VectorXd outputs;
};
Section section_of(const mesh::SurfaceLine& surface, double upper, double lower, mesh::Sea sea,
                   const std::vector<Station>& stations, const std::vector<double>& frequencies_hz) {
  const mesh::TensorGrid grid = mesh::TensorGrid::section({-20000.0, 0.0, 20000.0}, {0.0, 2000.0, 4000.0});
  Eigen::VectorXd cells(4);
  cells << upper, upper, lower, lower;
  const auto section = mesh::resistivity_model({grid, surface, sea}, cells);
  std::vector<ResponseKey> keys;
  for (const Element element : {Element::zxy, Element::zyx, Element::tzy}) {
    for (int f = 0; f < std::ssize(frequencies_hz); ++f) {
      for (int s = 0; s < std::ssize(stations); ++s) keys.push_back({element, f, s});
    }
  }
  ResponseLayout layout(keys);
  const auto meshes =
      d2::design_meshes(section, {stations, frequencies_hz, {}}, d2::design_options(d2::Accuracy::fine));
  Eigen::VectorXd outputs =
      d2::Simulation(MPI_COMM_SELF, section.earth, layout, stations, frequencies_hz, meshes)
          .value(section.values);
  return {std::move(layout), std::move(outputs)};
}

/// Every element on meshes of the usual rules.
struct Run {
  ResponseLayout layout;
  Eigen::VectorXd outputs;
  d3::SolveCounts counts;
  d3::MeshSet meshes;
};
Run run(const mesh::Model& model, const std::vector<Station>& stations,
        const std::vector<double>& frequencies_hz, const d3::MeshDesignOptions& options = {}) {
  const Survey survey{stations, frequencies_hz, {}};
  const auto meshes = d3::design_meshes(model, survey, options);
  const auto layout =
      tests::full_layout(static_cast<int>(frequencies_hz.size()), static_cast<int>(stations.size()));
  const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, stations, frequencies_hz, meshes);
  Eigen::VectorXd outputs = simulation.value(model.values);
  return {layout, std::move(outputs), simulation.counts(), meshes};
}

}  // namespace

TEST_CASE("3-D sea: over a layered earth the impedance at a level floor is that of the layers",
          "[physics][mt][sea]") {
  for (const double depth : {50.0, 1500.0}) {
    const auto model = two_layers(mesh::Surface(depth), 10.0, 100.0, {0.0, 0.3});
    std::vector<double> frequencies;
    for (const double period : {1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3, 1e4}) {
      // the field of longer periods reaches the floor
      if (depth < 7.0 * skin_depth_m(0.3, 1.0 / period)) frequencies.push_back(1.0 / period);
    }
    const Run sea = run(model, {at(0.0, 100.0), at(700.0, -4000.0)}, frequencies);
    for (int f = 0; f < std::ssize(frequencies); ++f) {
      const Complex exact = d1::layered_impedance({{10.0, 100.0}, {2000.0}}, frequencies[f]);
      for (int s = 0; s < 2; ++s) {
        const Complex xy = response_of(sea.layout, sea.outputs, {Element::zxy, f, s}) / exact,
                      yx = response_of(sea.layout, sea.outputs, {Element::zyx, f, s}) / -exact;
        UNSCOPED_INFO(fmt::format("{} m of water, {:g} s: xy {:.5f} {:+.4f}°, yx {:.5f} {:+.4f}°", depth,
                                  1.0 / frequencies[f], std::abs(xy), deg_per_rad * std::arg(xy),
                                  std::abs(yx), deg_per_rad * std::arg(yx)));
        for (const Complex ratio : {xy, yx}) {
          CHECK(std::abs(std::abs(ratio) - 1.0) < 2.5e-3);  // 0.5 % of the apparent resistivity
          CHECK(std::abs(std::arg(ratio)) * deg_per_rad < 0.2);
        }
        for (const Element element : {Element::zxx, Element::zyy})
          CHECK(std::abs(response_of(sea.layout, sea.outputs, {element, f, s})) < 1e-3 * std::abs(exact));
      }
    }
  }
}

TEST_CASE("3-D sea: water as resistive as the earth leaves a half-space, whatever the floor's shape",
          "[physics][mt][sea]") {
  const double coarsen = GENERATE(1.0, 0.5);
  const double rho = 5.0, frequency = 0.1;
  const auto model = two_layers(coast(), rho, rho, {0.0, rho});
  const Complex exact = d1::layered_impedance({{rho}, {}}, frequency);
  std::vector<Station> stations;
  for (const double y : {-1000.0, 600.0, 1200.0, 2200.0, 4600.0, 8000.0}) {
    for (const Definition definition : {Definition::horizontal, Definition::slope_parallel})
      stations.push_back(at(50.0, y + (definition == Definition::horizontal ? 0.0 : 20.0), definition));
  }
  auto options = d3::design_options(d3::Accuracy::standard);
  options.coarsen = coarsen;
  const Run sea = run(model, stations, {frequency}, options);
  for (int s = 0; s < std::ssize(stations); ++s) {
    const bool is_along = stations[s].definition == Definition::slope_parallel;
    const double slope = coast().slope_at(stations[s].y_m), cosine = 1.0 / std::hypot(1.0, slope);
    const Complex te = response_of(sea.layout, sea.outputs, {Element::zxy, 0, s}) /
                       (exact * (is_along ? 1.0 / cosine : 1.0)),
                  tm = response_of(sea.layout, sea.outputs, {Element::zyx, 0, s}) /
                       (-exact * (is_along ? cosine : 1.0));
    INFO(stations[s].name << ": TE " << te << ", TM " << tm);
    CHECK(std::abs(te - 1.0) < 0.002 * coarsen);
    CHECK(std::abs(tm - 1.0) < 0.002 * coarsen);
  }
}

TEST_CASE("3-D sea: a coast along x agrees with two dimensions, on land and on the floor",
          "[physics][mt][sea]") {
  const auto volume = two_layers(coast(), 20.0, 200.0, {0.0, 0.3});
  std::vector<Station> stations;
  for (const double y : {-3000.0, -1000.0, -300.0, 500.0, 1500.0, 4500.0, 8000.0})
    stations.push_back(at(30.0, y));
  const std::vector<double> frequencies{0.3, 0.01};
  const auto [layout, theirs] = section_of(coast(), 20.0, 200.0, {0.0, 0.3}, stations, frequencies);
  const Run sea = run(volume, stations, frequencies);
  std::printf("%s", sea.meshes.summary().c_str());
  for (const ResponseKey& key : layout.keys()) {
    const Complex ours = response_of(sea.layout, sea.outputs, key), exact = response_of(layout, theirs, key);
    const bool is_tipper = mt::is_tipper(key.element);
    const double error = is_tipper ? std::abs(ours - exact) : std::abs(ours / exact - 1.0);
    std::printf("%s %4.3g s y %6g m: %.4f\n",
                key.element == Element::zxy ? "TE"
                : is_tipper                 ? "tz"
                                            : "TM",
                1.0 / frequencies[key.frequency], stations[key.station].y_m, error);
    INFO(stations[key.station].name << " at " << 1.0 / frequencies[key.frequency] << " s, element "
                                    << static_cast<int>(key.element) << ": " << ours << ", " << exact);
    // On the floor of a good conductor H_y is the small rest of what the water shields.
    const double shielding =
        1.0 + std::abs(response_of(layout, theirs, {Element::tzy, key.frequency, key.station}));
    const double most = key.element == Element::zyx ? 0.015 : is_tipper ? 0.015 * shielding : 0.008;
    CHECK(error < most);
    if (stations[key.station].y_m < -500.0) CHECK(error < (is_tipper ? 0.01 : 0.005));
  }
}

TEST_CASE("3-D sea: derivatives pass the Taylor and the adjoint test", "[physics][mt][sea]") {
  auto model = island();
  if (GENERATE(false, true))
    model.earth.grid = mesh::TensorGrid(model.earth.grid.edges(), mesh::DepthReference::datum);
  const std::vector<Station> stations{at(-600.0, -400.0), at(1800.0, 1700.0, Definition::slope_parallel),
                                      at(1500.0, -1300.0)};
  const std::vector<double> frequencies = tests::volume_frequencies_hz();
  const d3::Simulation simulation(
      MPI_COMM_SELF, model.earth, tests::full_layout(2, 3), stations, frequencies,
      d3::design_meshes(model, {stations, frequencies, {}}, tests::coarse_design()),
      {.tolerance = 1e-11, .divergence_tolerance = 1e-11, .product_divergence_tolerance = 1e-11});
  const Eigen::VectorXd x = model.values.array().pow(1.05);
  const auto derivative = core::check_derivative(simulation, x);
  INFO(derivative.figure);
  CHECK(derivative.passed);
  const auto adjoint = core::check_adjoint(simulation, x, {.max_adjoint_gap = 1e-8});
  INFO(adjoint.figure);
  CHECK(adjoint.passed);
  const auto linearization = simulation.linearize(x);
  const Eigen::VectorXd direction = Eigen::VectorXd::LinSpaced(x.size(), -1.0, 2.0);
  const Eigen::VectorXd by_product = linearization->jvp(direction);
  CHECK((linearization->jacobian() * direction - by_product).norm() < 1e-7 * by_product.norm());
}

TEST_CASE("3-D sea: responses within the tolerances of iterations are those of exact solves",
          "[physics][mt][sea]") {
  const auto model = island();
  const std::vector<Station> stations{at(-600.0, -400.0), at(1800.0, 1700.0), at(1500.0, -1300.0)};
  const std::vector<double> frequencies = tests::volume_frequencies_hz();
  tests::check_tolerances_of_iterations(
      [&](const d3::SimulationOptions& options) {
        return std::make_shared<const d3::Simulation>(
            MPI_COMM_SELF, model.earth, tests::full_layout(2, 3), stations, frequencies,
            d3::design_meshes(model, {stations, frequencies, {}}, tests::coarse_design()), options);
      },
      model.values);
}

TEST_CASE("3-D sea: nodes lie on its surface and its floor, and cells keep the conductance of the water",
          "[physics][mt][sea]") {
  const auto model = island();
  const std::vector<Station> stations{at(-600.0, -400.0), at(1800.0, 1700.0)};
  const auto meshes = d3::design_meshes(model, {stations, {1.0}, {}}, tests::coarse_design());
  const d3::BandMesh& band = meshes.bands.front();
  REQUIRE(band.n_sea >= 6);
  CHECK(band.n_sea % 2 == 0);
  CHECK(d3::companions(meshes).bands.front().n_sea == band.n_sea / 2);
  const fem::ReliefGrid grid(band.grid, band.node_z_m);
  const fem::EdgeGrid& lines = band.grid;
  const int ground = band.ground();
  const d3::CellAverages averages(model.earth, grid, ground);
  const Eigen::VectorXd sigma = averages.conductivities(model.values);
  double farthest_m = 0.0, worst = 0.0;
  for (int j = 0; j < lines.n(1); ++j) {
    for (int i = 0; i < lines.n(0); ++i) {
      const double floor_m = grid.z_m(i, j, ground);
      if (floor_m > 20.0) farthest_m = std::max(farthest_m, std::abs(grid.z_m(i, j, ground - band.n_sea)));
      double conductance_m3 = 0.0, water_m = 0.0;
      for (int k = 0; k < ground; ++k)
        conductance_m3 += grid.volume_m3(i, j, k) * (sigma[lines.cell(i, j, k)] - d3::air_conductivity) * 0.3;
      for (const auto& [a, b] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
        water_m += 0.25 * std::max(0.0, grid.z_m(i + a, j + b, ground));
      const double volume_m3 = water_m * lines.width_m(0, i) * lines.width_m(1, j);
      worst = std::max(worst, std::abs(conductance_m3 - volume_m3) / (1e-6 + volume_m3));
    }
  }
  CHECK(farthest_m < 1e-9);
  CHECK(worst < 1e-6);
  CHECK(averages.derivative(model.values).toDense().topRows(lines.cell(0, 0, ground)).isZero());
}

TEST_CASE("3-D sea: it costs at most half as many iterations again as land", "[physics][mt][sea]") {
  const std::vector<Station> stations{at(30.0, -1000.0), at(30.0, 1500.0), at(30.0, 4500.0)};
  for (const double frequency : {10.0, 0.1, 1e-3}) {
    auto model = two_layers(coast(), 20.0, 200.0, {0.0, 0.3});
    const Run sea = run(model, stations, {frequency});
    model.earth.sea->resistivity_ohm_m = 1e9;  // as air, on the same meshes
    const d3::Simulation land(MPI_COMM_SELF, model.earth, sea.layout, stations, {frequency}, sea.meshes);
    (void)land.value(model.values);
    const auto n_sea = static_cast<double>(sea.counts.iterations),
               n_land = static_cast<double>(land.counts().iterations);
    std::printf("%g Hz: %.1f iterations with water, %.1f without\n", frequency, 0.5 * n_sea, 0.5 * n_land);
    CHECK(n_sea <= 1.5 * n_land);
  }
}

TEST_CASE("3-D sea: the certificate of a coast states layered earths under its water", "[physics][mt][sea]") {
  const auto model = two_layers(coast(), 20.0, 200.0, {0.0, 0.3});
  const auto survey =
      full_survey({at(30.0, -1500.0), at(30.0, 4000.0)}, {0.1}, {Datum::log10_rho_xy, Datum::log10_rho_yx});
  auto options = d3::design_options(d3::Accuracy::standard);
  options.max_edges = 1.5e5;
  const auto certificate = d3::certify(MPI_COMM_SELF, model, survey, options, {1.5, 0.7});
  INFO(certificate.table());
  REQUIRE(certificate.rows.size() == 4);
  CHECK(certificate.rows[0].passed);
  CHECK(certificate.rows[1].passed);
  CHECK(certificate.rows[3].passed);
}

TEST_CASE("3-D sea: level meshes under it are an error", "[physics][mt][sea]") {
  auto model = tests::small_volume();
  const auto meshes = d3::design_meshes(model, tests::volume_survey(), tests::coarse_design());
  model.earth.surface = mesh::Surface(200.0);
  model.earth.sea = mesh::Sea{0.0, 0.3};
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)d3::Simulation(MPI_COMM_SELF, model.earth, tests::full_layout(2, 2),
                                    tests::volume_stations(), tests::volume_frequencies_hz(), meshes);
             }),
             HasId("level_mesh", {"200", "fill the sea"}));
}

TEST_CASE("3-D sea: companions keep three layers of water however coarse, and fine accuracy holds on them",
          "[physics][mt][sea]") {
  const auto model = two_layers(mesh::Surface(500.0), 10.0, 100.0, {0.0, 0.3});
  const std::vector<Station> stations{at(0.0, 100.0)};
  const std::vector<double> frequencies{0.3, 0.01};
  auto options = d3::design_options(d3::Accuracy::fine);
  for (const double coarsen : {1.0, 3.0, 9.0}) {
    options.coarsen = coarsen;
    const auto companions = d3::companions(d3::design_meshes(model, {stations, frequencies, {}}, options));
    for (const d3::BandMesh& band : companions.bands) CHECK(band.n_sea >= 3);
  }
  options.coarsen = 2.0;
  const auto meshes = d3::design_meshes(model, {stations, frequencies, {}}, options);
  const auto layout = tests::full_layout(2, 1);
  const auto simulation = std::make_shared<const d3::Simulation>(MPI_COMM_SELF, model.earth, layout, stations,
                                                                 frequencies, meshes);
  const Eigen::VectorXd outputs = d3::response_map(simulation)->value(model.values);
  for (int f = 0; f < std::ssize(frequencies); ++f) {
    const Complex exact = d1::layered_impedance({{10.0, 100.0}, {2000.0}}, frequencies[f]);
    for (const auto& [element, sign] : {std::pair{Element::zxy, 1.0}, {Element::zyx, -1.0}}) {
      const Complex ratio = response_of(layout, outputs, {element, f, 0}) / (sign * exact);
      INFO(1.0 / frequencies[f] << " s: " << ratio);
      CHECK(std::abs(ratio - 1.0) < 0.02);
    }
  }
}

TEST_CASE("3-D sea: the certificate levels it at the depth of stations in shallow water",
          "[physics][mt][sea]") {
  const auto model = two_layers(shelf(10.0), 20.0, 200.0, {0.0, 0.3});
  const auto survey = full_survey({at(30.0, 3000.0)}, {1.0}, {Datum::log10_rho_xy, Datum::log10_rho_yx});
  auto options = d3::design_options(d3::Accuracy::standard);
  options.max_edges = 2e5;
  const auto certificate = d3::certify(MPI_COMM_SELF, model, survey, options, {1.5, 0.7});
  INFO(certificate.table());
  REQUIRE(certificate.rows.size() == 4);
  CHECK(certificate.rows[0].passed);
  CHECK(certificate.rows[1].passed);
  CHECK(certificate.rows[2].passed);  // on companions, too, no field comes from the air
}

TEST_CASE("3-D sea: stations in water far shallower than the deepest agree with two dimensions",
          "[physics][mt][sea]") {
  const double depth = GENERATE(100.0, 20.0, 5.0);  // of 3000 m; layers share 150 m
  const std::vector<Station> stations{at(30.0, 2500.0), at(30.0, 4000.0)};
  const std::vector<double> frequencies{3.0, 0.1, 0.01};
  const mesh::Sea water{0.0, 0.3};
  const auto [layout, theirs] = section_of(shelf(depth), 20.0, 200.0, water, stations, frequencies);
  const Run sea = run(two_layers(shelf(depth), 20.0, 200.0, water), stations, frequencies);
  for (const ResponseKey& key : layout.keys()) {
    const Complex ours = response_of(sea.layout, sea.outputs, key), exact = response_of(layout, theirs, key);
    const bool is_tipper = mt::is_tipper(key.element);
    const double error = is_tipper ? std::abs(ours - exact) : std::abs(ours / exact - 1.0);
    std::printf("%g m, %4.3g s, y %g m, element %d: %.4f\n", depth, 1.0 / frequencies[key.frequency],
                stations[key.station].y_m, static_cast<int>(key.element), error);
    INFO(depth << " m of water, " << stations[key.station].name << " at " << 1.0 / frequencies[key.frequency]
               << " s, element " << static_cast<int>(key.element) << ": " << ours << ", " << exact);
    CHECK(error < 0.02);
  }
}

TEST_CASE("3-D sea: air stays above land that stands beside deep water", "[physics][mt][sea]") {
  const mesh::SurfaceLine cliff({-2000.0, 0.0, 4000.0, 9000.0}, {-150.0, 0.0, 4000.0, 4000.0});
  const auto model = two_layers(cliff, 1.0, 10.0, {0.0, 0.3});
  CHECK(d3::height_of_layers_m(model.earth) == Approx(4000.0 + 150.0 + 200.0));
  const fem::EdgeGrid low({{{-3000, 0, 3000}, {-3000, 0, 3000}, {-4300, -4000, -2000, 0, 100, 200}}});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)d3::node_depths_m(model.earth, low); }),
             HasId("low_air", {"4350", "4300"}));
  const auto meshes = d3::design_meshes(model, {{at(0.0, -1000.0)}, {1e4}, {}}, tests::coarse_design());
  const d3::BandMesh& band = meshes.bands.front();
  const fem::ReliefGrid grid(band.grid, band.node_z_m);
  for (int k = 0; k < band.ground() - band.n_sea; ++k) {
    for (int j = 0; j <= band.grid.n(1); ++j) CHECK(grid.height_m(0, j, k) > 0.75 * band.grid.width_m(2, k));
  }
}
