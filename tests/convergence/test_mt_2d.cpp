// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analytic.hpp"
#include "physics/mt/mesh_design.hpp"
#include "physics/mt/simulation_2d.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <cstdio>

using namespace lodestone::physics;
using namespace lodestone::physics::mt;

TEST_CASE("2-D finite elements: the error against a layered earth falls with second order in the cell size", "[physics][mt]") {
  mesh::TensorGrid2D grid({-1000.0, 1000.0}, {0.0, 400.0, 2000.0});
  Eigen::VectorXd resistivity(2);
  resistivity << 50.0, 500.0;
  const mesh::Surface2D surface(0.0);
  const Survey2D survey = full_survey({{"a", 130.0}}, {3.0}, {Quantity::zxy_re, Quantity::zxy_im, Quantity::zyx_re, Quantity::zyx_im});
  MeshDesignOptions options;
  options.cells_per_skin_depth = 4.0;
  options.growth = 1.3;
  options.bottom_depth = 8.0;  // below the error of the finest mesh
  MeshSet2D meshes = design_meshes({grid, resistivity, surface}, survey, options);
  const auto exact = layered_impedance({{50.0, 500.0}, {400.0}}, 3.0);

  std::printf("%10s %14s %8s %14s %8s\n", "cells", "TE error", "order", "TM error", "order");
  double te_before = 0.0, tm_before = 0.0;
  for (int level = 0; level < 4; ++level) {
    const Eigen::VectorXd z = Simulation2D(MPI_COMM_SELF, grid, surface, survey, meshes).value(resistivity);
    const double te = std::abs(std::complex<double>(z[0], z[1]) - exact) / std::abs(exact);
    const double tm = std::abs(std::complex<double>(z[2], z[3]) + exact) / std::abs(exact);
    const double te_order = std::log2(te_before / te), tm_order = std::log2(tm_before / tm);
    const auto& mesh = meshes.bands[0].mesh;
    std::printf("%10d %14.3e %8.2f %14.3e %8.2f\n", mesh.n_y() * mesh.n_z(), te, level == 0 ? 0.0 : te_order, tm,
                level == 0 ? 0.0 : tm_order);
    if (level > 0) {
      CHECK(te_order == Approx(2.0).margin(0.15));
      CHECK(tm_order == Approx(2.0).margin(0.15));
    }
    te_before = te;
    tm_before = tm;
    meshes.bands[0].mesh = mesh.refined();
  }
}
