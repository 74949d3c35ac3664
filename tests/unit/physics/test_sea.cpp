// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analytic.hpp"
#include "physics/mt/certificate.hpp"
#include "physics/mt/simulation_2d.hpp"
#include "physics/mt/transfer_functions.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;

namespace {

const std::vector<Quantity> impedances{Quantity::zxy_re, Quantity::zxy_im, Quantity::zyx_re, Quantity::zyx_im};

/// Land for y < 0, a floor that falls to 900 m at 3 km and rises to 500 m at 6 km.
mesh::Surface2D coast() { return mesh::Surface2D({-2000.0, 0.0, 3000.0, 6000.0, 9000.0}, {0.0, 0.0, 900.0, 500.0, 500.0}); }

mesh::Section2D two_layers(mesh::Surface2D surface, double upper, double lower, mesh::Sea sea) {
  mesh::TensorGrid2D grid({-20000.0, 0.0, 20000.0}, {0.0, 2000.0, 4000.0});
  Eigen::VectorXd cells(4);
  cells << upper, upper, lower, lower;
  return {std::move(grid), std::move(cells), std::move(surface), sea};
}

/// Complex impedances, TE of all stations at every frequency, then TM.
Eigen::VectorXcd impedances_of(const mesh::Section2D& section, std::vector<Station> stations, const std::vector<double>& frequencies_hz,
                               const MeshDesignOptions& options = {}) {
  const auto survey = full_survey(std::move(stations), frequencies_hz, impedances);
  const Simulation2D simulation(MPI_COMM_SELF, section.grid, section.surface, survey, design_meshes(section, survey, options));
  const Eigen::VectorXd values = simulation.value(section.resistivity_ohm_m);
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

TEST_CASE("sea: over a layered earth the impedance at a level floor does not depend on the water", "[physics][mt][sea]") {
  const std::vector<double> frequencies{1.0, 0.01};
  for (const double depth : {50.0, 1500.0}) {
    const auto section = two_layers(mesh::Surface2D(depth), 10.0, 100.0, {0.0, 0.3});
    const Eigen::VectorXcd z = impedances_of(section, {at(0.0), at(4000.0)}, frequencies);
    for (Eigen::Index i = 0; i < 4; ++i) {
      const auto exact = layered_impedance({{10.0, 100.0}, {2000.0}}, frequencies[i / 2]);
      CHECK(std::abs(z[i] / exact - 1.0) < 2.5e-3);
      CHECK(std::abs(z[4 + i] / -exact - 1.0) < 2.5e-3);
    }
  }
}

TEST_CASE("sea: water as resistive as the earth leaves a half-space, whatever the floor's shape and the coast", "[physics][mt][sea]") {
  const double rho = 5.0, frequency = 0.1;
  const auto section = two_layers(coast(), rho, rho, {0.0, rho});
  const std::vector<double> places{-1000.0, 1200.0, 4600.0, 8000.0};
  const auto exact = layered_impedance({{rho}, {}}, frequency);
  const auto check = [&](Definition definition, double te_factor, double tm_factor, double y) {
    const Eigen::VectorXcd z = impedances_of(section, {at(y, definition)}, {frequency});
    INFO("y = " << y << " m, " << name_of(definition));
    CHECK(std::abs(z[0] / (te_factor * exact) - 1.0) < 2.5e-3);
    CHECK(std::abs(z[1] / (-tm_factor * exact) - 1.0) < 2.5e-3);
  };
  for (const double y : places) {
    check(Definition::horizontal, 1.0, 1.0, y);
    const double slope = section.surface.slope_at(y), cosine = 1.0 / std::sqrt(1.0 + slope * slope);
    check(Definition::slope_parallel, 1.0 / cosine, cosine, y);  // H along the slope is smaller than the level H, and so is E
  }
}

TEST_CASE("sea: a basin of water with walls of 20 in 1 and the same basin among the cells of the earth give the same on land",
          "[physics][mt][sea]") {
  const double water = 0.5, rock = 100.0, depth = 400.0;
  const std::vector<Station> on_land{at(-3000.0), at(-800.0), at(6200.0)};
  const auto sea = two_layers(mesh::Surface2D({-10.0, 10.0, 4990.0, 5010.0}, {0.0, depth, depth, 0.0}), rock, rock, {0.0, water});
  const mesh::TensorGrid2D grid({-20000.0, 0.0, 5000.0, 20000.0}, {0.0, depth, 4000.0});
  Eigen::VectorXd cells(6);
  cells << rock, water, rock, rock, rock, rock;
  const mesh::Section2D earth{grid, cells, mesh::Surface2D(0.0)};
  const std::vector<double> frequencies{10.0, 0.1};
  const Eigen::VectorXcd ours = impedances_of(sea, on_land, frequencies), reference = impedances_of(earth, on_land, frequencies);
  for (Eigen::Index i = 0; i < ours.size(); ++i) {
    INFO("datum " << i);
    CHECK(std::abs(ours[i] / reference[i] - 1.0) < 5e-3);
  }
}

TEST_CASE("sea: the certificate of a marine section passes on standard meshes", "[physics][mt][sea]") {
  const auto section = two_layers(coast(), 2.0, 20.0, {0.0, 0.3});
  const auto survey = full_survey({at(-1500.0), at(1500.0), at(4000.0)}, {0.3, 0.03}, {Quantity::log10_rho_xy, Quantity::log10_rho_yx});
  const auto certificate = certify(MPI_COMM_SELF, section, survey, {}, {1.0, 0.4});
  INFO(certificate.table());
  CHECK(certificate.passed);
}
