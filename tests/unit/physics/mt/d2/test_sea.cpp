// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/features.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;

namespace {

const std::vector<Datum> impedances{Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im};

/// Returns land for y < 0, a floor that falls to 900 m at 3 km and rises to 500 m at 6 km.
mesh::SurfaceLine coast() {
  return mesh::SurfaceLine({-2000.0, 0.0, 3000.0, 6000.0, 9000.0}, {0.0, 0.0, 900.0, 500.0, 500.0});
}

mesh::Model two_layers(mesh::SurfaceLine surface, double upper, double lower, mesh::Sea sea) {
  mesh::TensorGrid grid = mesh::TensorGrid::section({-20000.0, 0.0, 20000.0}, {0.0, 2000.0, 4000.0});
  Eigen::VectorXd cells(4);
  cells << upper, upper, lower, lower;
  return mesh::resistivity_model({std::move(grid), std::move(surface), sea}, std::move(cells));
}

/// Returns the complex impedances, TE of all stations at every frequency, then TM.
Eigen::VectorXcd impedances_of(const mesh::Model& section, std::vector<Station> stations,
                               const std::vector<double>& frequencies_hz,
                               const d2::MeshDesignOptions& options = {}) {
  const auto survey = full_survey(std::move(stations), frequencies_hz, impedances);
  const auto simulation =
      d2::data_map(MPI_COMM_SELF, section.earth, survey, d2::design_meshes(section, survey, options));
  const Eigen::VectorXd values = simulation->value(section.values);
  const Eigen::Index n = values.size() / 4;
  Eigen::VectorXcd result(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    result[i] = {values[i], values[n + i]};
    result[n + i] = {values[2 * n + i], values[3 * n + i]};
  }
  return result;
}

Station at(double y_m, Definition definition = Definition::horizontal) {
  Station station{fmt::format("y{}", y_m), y_m};
  station.definition = definition;
  return station;
}

}  // namespace

TEST_CASE("sea: over a layered earth the impedance at a level floor does not depend on the water",
          "[physics][mt][sea]") {
  const std::vector<double> frequencies{1.0, 0.01};
  for (const double depth : {50.0, 1500.0}) {
    const auto section = two_layers(mesh::SurfaceLine(depth), 10.0, 100.0, {0.0, 0.3});
    const Eigen::VectorXcd z = impedances_of(section, {at(0.0), at(4000.0)}, frequencies);
    for (Eigen::Index i = 0; i < 4; ++i) {
      const auto exact = d1::layered_impedance({{10.0, 100.0}, {2000.0}}, frequencies[i / 2]);
      CHECK(std::abs(z[i] / exact - 1.0) < 2.5e-3);
      CHECK(std::abs(z[4 + i] / -exact - 1.0) < 2.5e-3);
    }
  }
}

TEST_CASE(
    "sea: water as resistive as the earth leaves a half-space, whatever the floor's shape and the coast",
    "[physics][mt][sea]") {
  const double rho = 5.0, frequency = 0.1;
  const auto section = two_layers(coast(), rho, rho, {0.0, rho});
  const std::vector<double> places{-1000.0, 1200.0, 4600.0, 8000.0};
  const auto exact = d1::layered_impedance({{rho}, {}}, frequency);
  const auto check = [&](Definition definition, double te_factor, double tm_factor, double y) {
    const Eigen::VectorXcd z = impedances_of(section, {at(y, definition)}, {frequency});
    INFO("y = " << y << " m, " << core::word(definition));
    CHECK(std::abs(z[0] / (te_factor * exact) - 1.0) < 2.5e-3);
    CHECK(std::abs(z[1] / (-tm_factor * exact) - 1.0) < 2.5e-3);
  };
  for (const double y : places) {
    check(Definition::horizontal, 1.0, 1.0, y);
    const double slope = section.earth.surface.profile().slope_at(y),
                 cosine = 1.0 / std::sqrt(1.0 + slope * slope);
    check(Definition::slope_parallel, 1.0 / cosine, cosine,
          y);  // H along the slope is smaller than the level H, and so is E
  }
}

TEST_CASE(
    "sea: a basin of water with walls of 20 in 1 and the same basin among the cells of the earth give the "
    "same on land",
    "[physics][mt][sea]") {
  const double water = 0.5, rock = 100.0, depth = 400.0;
  const std::vector<Station> on_land{at(-3000.0), at(-800.0), at(6200.0)};
  const auto sea = two_layers(mesh::SurfaceLine({-10.0, 10.0, 4990.0, 5010.0}, {0.0, depth, depth, 0.0}),
                              rock, rock, {0.0, water});
  const mesh::TensorGrid grid =
      mesh::TensorGrid::section({-20000.0, 0.0, 5000.0, 20000.0}, {0.0, depth, 4000.0});
  Eigen::VectorXd cells(6);
  cells << rock, water, rock, rock, rock, rock;
  const mesh::Model earth = mesh::resistivity_model({grid}, cells);
  const std::vector<double> frequencies{10.0, 0.1};
  const Eigen::VectorXcd ours = impedances_of(sea, on_land, frequencies),
                         reference = impedances_of(earth, on_land, frequencies);
  for (Eigen::Index i = 0; i < ours.size(); ++i) {
    INFO("datum " << i);
    CHECK(std::abs(ours[i] / reference[i] - 1.0) < 5e-3);
  }
}

TEST_CASE("sea: the certificate of a marine section passes on standard meshes", "[physics][mt][sea]") {
  const auto section = two_layers(coast(), 2.0, 20.0, {0.0, 0.3});
  const auto survey = full_survey({at(-1500.0), at(1500.0), at(4000.0)}, {0.3, 0.03},
                                  {Datum::log10_rho_xy, Datum::log10_rho_yx});
  const auto certificate = d2::certify(MPI_COMM_SELF, section, survey, {}, {1.0, 0.4});
  INFO(certificate.table());
  CHECK(certificate.passed);
}

namespace {

/// Returns a floor that rises from 2000 to 800 m over 30 km. Below it 1 ohm m lies on 100 under a slanted
/// edge, sampled by 300 × 200 cells between the datum and 10 km.
mesh::Model sampled_slope() {
  std::vector<double> y, z;
  for (int i = 0; i <= 300; ++i) y.push_back(-10000.0 + 200.0 * i);
  for (int i = 0; i <= 200; ++i) z.push_back(50.0 * i);
  mesh::TensorGrid grid = mesh::TensorGrid::section(std::move(y), std::move(z), mesh::DepthReference::datum);
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      cells[grid.index(iz, iy)] = grid.z_centre_m(iz) < 5000.0 - 0.1 * grid.y_centre_m(iy) ? 1.0 : 100.0;
  }
  return mesh::resistivity_model(
      {std::move(grid), mesh::SurfaceLine({0.0, 30000.0}, {2000.0, 800.0}), mesh::Sea{0.0, 0.3}},
      std::move(cells));
}

const std::vector<Station> on_slope{at(5000.0), at(15000.0), at(25000.0)};

}  // namespace

TEST_CASE(
    "sea: depths of a grid on the datum count from the floor, so no size asked for is smaller than the "
    "shares of the penetration depth",
    "[physics][mt][sea]") {
  const auto section = sampled_slope();
  const auto survey = full_survey(on_slope, {0.1, 0.001}, impedances);
  for (const double frequency : {0.1, 0.001}) {
    const auto features = d2::find_features(section, survey, {frequency, frequency}, {});
    const double depth =
        std::sqrt(2.0 / (omega(0.1) * mu0));  // of penetration at the highest frequency, in 1 ohm m
    const double least = d2::MeshDesignOptions{}.contact_fraction * 0.005 * depth / 2.0;
    for (const auto* sizes : {&features.y, &features.z}) {
      for (const auto& feature : *sizes) CHECK(feature.size_m > least);
    }
  }
}

TEST_CASE("sea: the steps that sample a slanted edge cost few lines, and the rules are hardly relaxed",
          "[physics][mt][sea]") {
  const auto section = sampled_slope();
  const auto survey = full_survey(on_slope, {0.1, 0.01, 0.001}, impedances);
  for (const auto& band : d2::design_meshes(section, survey).bands) {
    INFO("band of " << survey.frequencies_hz[band.frequencies.front()] << " Hz");
    CHECK(band.coarsened < 1.4);
    CHECK(band.mesh.n_y() < 250);
    CHECK(band.mesh.n_earth() + band.mesh.n_sea() < 80);
  }
}

TEST_CASE("sea: rows and depths under a surface of any height are each other's inverse",
          "[physics][mt][sea]") {
  const d2::RowLevels levels{.draped = false, .level_depth_m = 600.0};
  for (const double height : {0.0, 500.0, 1200.0}) {
    for (const double row : {0.0, 100.0, 599.0, 600.0, 5000.0})
      CHECK(std::abs(levels.row_at(levels.depth_of(row, height), height) - row) < 1e-9);
  }
}

TEST_CASE("sea: a station where the floor's resistivity changes has neither a peak nor a hole in TM",
          "[physics][mt][sea]") {
  mesh::TensorGrid grid = mesh::TensorGrid::section({-20000.0, 0.0, 20000.0}, {0.0, 20.0, 4000.0});
  Eigen::VectorXd cells(4);
  cells << 0.63, 0.60, 0.62, 0.62;
  const mesh::Model section = mesh::resistivity_model(
      {std::move(grid), mesh::Surface(1700.0), mesh::Sea{0.0, 0.3}}, std::move(cells));
  const Eigen::VectorXcd z = impedances_of(section, {at(-1000.0), at(0.0), at(1000.0)}, {0.003});
  CHECK(std::abs(z[4] / z[3] - 1.0) < 0.02);
  CHECK(std::abs(z[4] / z[5] - 1.0) < 0.02);
}

TEST_CASE("graded features: sizes of a band are proportional to its coarsening", "[physics][mt][sea]") {
  const auto section = sampled_slope();
  const auto survey = full_survey(on_slope, {0.1}, impedances);
  d2::MeshDesignOptions options;
  const auto once = d2::find_features(section, survey, {0.1, 0.1}, options).coarsened(1.7);
  options.coarsen = 1.7;
  const auto direct = d2::find_features(section, survey, {0.1, 0.1}, options);
  REQUIRE(once.y.size() == direct.y.size());
  REQUIRE(once.z.size() == direct.z.size());
  for (std::size_t i = 0; i < once.y.size(); ++i)
    CHECK(std::abs(once.y[i].size_m / direct.y[i].size_m - 1.0) < 1e-12);
  for (std::size_t i = 0; i < once.z.size(); ++i)
    CHECK(std::abs(once.z[i].size_m / direct.z[i].size_m - 1.0) < 1e-12);
  CHECK(std::abs(once.surface_size_m / direct.surface_size_m - 1.0) < 1e-12);
}
