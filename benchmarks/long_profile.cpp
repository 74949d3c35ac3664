// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/long_profile.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::bench {

using namespace physics;

namespace {

constexpr double length_m = 719e3;
constexpr int n_frequencies = 20;

}  // namespace

mesh::Model long_section() {
  std::vector<double> y;
  for (int i = 0; i <= 100; ++i) y.push_back(length_m * (-0.05 + 0.011 * i));
  mesh::TensorGrid grid = mesh::TensorGrid::section(std::move(y), mesh::geometric_edges_m(2.0, 1.146, 64));
  Eigen::VectorXd resistivity(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const double wave =
          std::sin(grid.y_centre_m(iy) / 40e3) * std::sin(std::log(1.0 + grid.z_centre_m(iz) / 300.0));
      resistivity[grid.index(iz, iy)] = std::pow(10.0, 2.5 + wave);
    }
  }
  return mesh::resistivity_model({std::move(grid)}, std::move(resistivity));
}

mt::Survey long_survey() {
  std::vector<mt::Station> stations;
  for (int i = 0; i < n_stations; ++i) {
    const double spread =
        i == 0 || i == n_stations - 1 ? 0.0 : 0.3 * std::sin(2.7 * i);  // stations are never evenly spaced
    stations.push_back({.name = fmt::format("s{:02}", i), .y_m = length_m * (i + spread) / (n_stations - 1)});
  }
  std::vector<double> frequencies;
  for (int i = 0; i < n_frequencies; ++i)
    frequencies.push_back(320.0 * std::pow(0.0046 / 320.0, i / (n_frequencies - 1.0)));
  return mt::full_survey(
      std::move(stations), std::move(frequencies),
      {mt::Datum::log10_rho_xy, mt::Datum::phase_xy, mt::Datum::log10_rho_yx, mt::Datum::phase_yx});
}

}  // namespace lodestone::bench
