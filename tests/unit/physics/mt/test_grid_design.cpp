// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/grid_design.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace lodestone;
namespace mt = physics::mt;

namespace {

mt::Observations data_at(const std::vector<double>& y_m, double log10_rho) {
  std::vector<mt::Station> stations(y_m.size());
  for (std::size_t i = 0; i < y_m.size(); ++i) {
    stations[i].name = std::to_string(i);
    stations[i].y_m = y_m[i];
  }
  mt::Observations data;
  data.survey = mt::full_survey(std::move(stations), {100.0, 0.01}, {mt::Datum::log10_rho_xy});
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value = Eigen::VectorXd::Constant(n, log10_rho);
  data.sigma = Eigen::VectorXd::Ones(n);
  data.reason.assign(static_cast<std::size_t>(n), mt::MaskReason::kept);
  data.interpolated.assign(static_cast<std::size_t>(n), 0);
  return data;
}

}  // namespace

TEST_CASE("grid: the columns and layers asked for, with a margin in shares of the profile", "[physics]") {
  const auto grid =
      mt::design_grid(data_at({0.0, 300e3, 719e3}, 2.0),
                      {.n_columns = 100, .n_layers = 64, .first_layer_m = 2.0, .layer_factor = 1.146});
  CHECK(grid.n_y() == 100);
  CHECK(grid.n_z() == 64);
  CHECK(grid.y_edges_m().front() == Approx(-35.95e3));
  CHECK(grid.y_edges_m().back() == Approx(754.95e3));
  CHECK(grid.z_edges_m().back() == Approx(84.03e3).epsilon(1e-3));
}

TEST_CASE("grid: what is not given follows from spacing and skin depths", "[physics]") {
  const auto grid = mt::design_grid(data_at({0.0, 1e3, 2e3}, 2.0));
  CHECK(grid.n_y() == 20);
  CHECK(grid.z_edges_m()[1] == Approx(0.05 * 503.3).epsilon(1e-3));  // 100 ohm m at 100 Hz: 503 m
  CHECK(grid.z_edges_m().back() > 1.5 * 50330.0);                    // and 50.3 km at 0.01 Hz
  CHECK(grid.z_edges_m().back() < 2.0 * 50330.0);
  const auto lone = mt::design_grid(data_at({5.0}, 2.0));
  CHECK(lone.y_edges_m().front() < 5.0 - 40e3);
}

TEST_CASE("grid: edges of columns keep away from stations, unless the number of columns is given",
          "[physics]") {
  const std::vector<double> y{0.0, 900.0, 2100.0, 2950.0, 4000.0, 5200.0, 6050.0, 7000.0, 8200.0, 9000.0};
  const auto least = [&](const mt::GridOptions& options) {  // distance of an edge from a station, in widths
    const std::vector<double> edges = mt::design_grid(data_at(y, 2.0), options).y_edges_m();
    double distance = 1e300, narrowest = 1e300;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      narrowest = std::min(narrowest, edges[i + 1] - edges[i]);
      for (const double station : y) distance = std::min(distance, std::abs(edges[i] - station));
    }
    const double width = (edges.back() - edges.front()) / static_cast<double>(edges.size() - 1);
    CHECK(narrowest > 0.29 * width);
    return distance / width;
  };
  CHECK(least({}) > 0.2);
  CHECK(least({.n_columns = 20}) < 0.05);
}

TEST_CASE("grid: volumes have uniform cells under the map and wider ones to a skin depth beside it",
          "[physics]") {
  mt::Observations data = data_at({0.0, 4e3, 0.0, 4e3}, 2.0);
  for (std::size_t i = 2; i < 4; ++i) data.survey.stations[i].x_m = 2e3;
  const auto grid = mt::design_volume(data, {.n_columns = 10, .n_rows = 8, .margin = 0.25});
  REQUIRE(grid.dimension() == 3);
  const auto& x = grid.edges_m(physics::mesh::Axis::x);
  CHECK(x.front() < -50e3);  // 100 ohm m at 0.01 Hz: 50.3 km
  CHECK(x.back() > 52e3);
  const auto inner = std::ranges::find(x, -1e3);  // half the distance of neighbours outweighs the margin
  REQUIRE(inner != x.end());
  CHECK(inner[8] == Approx(3e3));
  CHECK(inner[1] - inner[0] == Approx(500.0));
  CHECK(inner[0] - inner[-1] == Approx(750.0));
  const auto defaults = mt::design_volume(data);
  CHECK(defaults.width_m(physics::mesh::Axis::y, defaults.nearest(physics::mesh::Axis::y, 2e3)) <= 1e3);
  CHECK(mt::design_volume(data_at({5.0}, 2.0)).n_x() > 8);
}
