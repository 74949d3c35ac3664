// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/smoothness.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::inversion;
using physics::mt::Station;

namespace {

/// Returns stations of a lattice, so many along x and y.
std::vector<Station> lattice(int n_x, int n_y, double distance_m) {
  std::vector<Station> stations;
  for (int i = 0; i < n_x; ++i) {
    for (int j = 0; j < n_y; ++j) {
      Station& each = stations.emplace_back();
      each.x_m = i * distance_m;
      each.y_m = j * distance_m;
    }
  }
  return stations;
}

}  // namespace

TEST_CASE("smoothness: stations sample twice the distance of a lattice or a line", "[inversion]") {
  CHECK(mt::sampled_wavelength_m(lattice(4, 7, 500.0)) == Approx(1000.0));
  CHECK(mt::sampled_wavelength_m(lattice(1, 9, 300.0)) == Approx(600.0));
  CHECK(mt::sampled_wavelength_m(lattice(9, 1, 300.0)) == Approx(600.0));
  CHECK(std::isinf(mt::sampled_wavelength_m(lattice(1, 1, 1.0))));
}

TEST_CASE("smoothness: a step sideways over a wavelength is as rough as one over a factor e in depth",
          "[inversion]") {
  // Columns of one wavelength, layers that thicken by a factor: a model that rises by 1 with each column, and
  // one that rises by 1 with each factor e of z + z0, are equally rough.
  constexpr double z0_m = 500.0, distance_m = 750.0, per_layer = 0.05;
  constexpr int n_columns = 20, n_layers = 40;
  physics::mesh::Edges edges{.x_m = {0.0, 1000.0}};
  for (int j = 0; j <= n_columns; ++j) edges.y_m.push_back(j * 2.0 * distance_m);
  for (int k = 0; k <= n_layers; ++k) edges.z_m.push_back(z0_m * std::expm1(per_layer * k));
  const physics::mesh::TensorGrid grid(edges);
  const prior::RoughnessOptions options =
      mt::smooth_in_log_depth({.vertical_weight = 3.0, .depth_weight_z0_m = z0_m, .smallness_length_m = 1e12},
                              edges.z_m.back(), lattice(5, 5, distance_m));
  const auto r = prior::roughness_operator(grid, options);
  Eigen::VectorXd sideways(grid.n_cells()), down(grid.n_cells());
  for (int k = 0; k < n_layers; ++k) {
    for (int j = 0; j < n_columns; ++j) {
      sideways[grid.index(k, j)] = j;
      down[grid.index(k, j)] = per_layer * k;
    }
  }
  const double inner_y = 1.0 - 1.0 / n_columns, inner_z = 1.0 - 1.0 / n_layers;  // faces for each cell
  const double ratio = (r * sideways).squaredNorm() / (r * down).squaredNorm();
  CHECK(ratio == Approx(inner_y / inner_z).epsilon(1e-3));
}

TEST_CASE("smoothness: beside a lone station the length is the depth of the grid", "[inversion]") {
  const prior::RoughnessOptions options =
      mt::smooth_in_log_depth({.vertical_weight = 2.0}, 5e4, lattice(1, 1, 1.0));
  CHECK(options.horizontal_weight == 2.0);
  CHECK(options.depth_weight_exponent == 1.0);
  CHECK(options.horizontal_depth_exponent == -1.0);
}
