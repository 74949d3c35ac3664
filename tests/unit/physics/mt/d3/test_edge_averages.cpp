// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/edge_operator.hpp"
#include "physics/mt/d3/background.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_volume.hpp"

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using namespace lodestone::physics::mt::d3;

namespace {

/// Lines that cut the cells of `small_volume` in many ways.
fem::EdgeGrid cutting_grid() {
  return fem::EdgeGrid({{{-5000, -2100, -700, -200, 300, 900, 2500, 6000},
                         {-4000, -1000, -300, 300, 800, 3000, 7000},
                         {-3000, -500, 0, 100, 350, 700, 1500, 4000, 9000}}});
}

}  // namespace

TEST_CASE("edge averages: of a uniform earth they are area over length, half of it at the surface",
          "[physics][mt]") {
  const auto model = tests::small_volume();
  const fem::EdgeGrid grid = cutting_grid();
  const EdgeAverages averages(model.earth, grid);
  const Eigen::VectorXd masses = averages.masses(Eigen::VectorXd::Constant(model.values.size(), 50.0));
  const double dual = grid.dual_m(1, 2);
  CHECK(masses[grid.edge(0, 3, 2, 5)] == Approx(0.02 * dual * grid.dual_m(2, 5) / grid.width_m(0, 3)));
  CHECK(masses[grid.edge(0, 3, 2, 2)] == Approx(0.02 * dual * 50.0 / grid.width_m(0, 3)).epsilon(1e-6));
  CHECK(masses[grid.edge(2, 3, 2, 1)] == Approx(air_conductivity * grid.dual_m(0, 3) * dual / 500.0));
  const Eigen::VectorXd cells =
      averages.cell_conductivities(Eigen::VectorXd::Constant(model.values.size(), 50.0));
  CHECK(cells[grid.cell(2, 2, 1)] == Approx(air_conductivity));
  CHECK(cells[grid.cell(2, 2, 2)] == Approx(0.02));
}

TEST_CASE("edge averages: parallel across an edge, in series along it", "[physics][mt]") {
  // Two resistivities with a contact at x = 0 inside an edge along x, and inside the dual cell of one along
  // y.
  const mesh::TensorGrid parameters(mesh::Edges{.x_m = {-10, 0, 10}, .y_m = {-10, 10}, .z_m = {0, 10}});
  const fem::EdgeGrid grid({{{-100, -1, 2, 100}, {-50, 0, 50}, {-100, 0, 10, 100}}});
  const EdgeAverages averages({parameters}, grid);
  const Eigen::VectorXd masses = averages.masses(Eigen::Vector2d(1.0, 10.0));
  const double series = 1.0 / ((1.0 / 3.0) * 1.0 + (2.0 / 3.0) * 10.0);
  CHECK(masses[grid.edge(0, 1, 1, 2)] == Approx(series * 50.0 * 50.0 / 3.0));
  // dual cell of the line at x = −1: from −50.5 to 0.5
  const double parallel = (50.5 * 1.0 + 0.5 * 0.1) / 51.0;
  CHECK(masses[grid.edge(1, 1, 0, 2)] == Approx(parallel * 51.0 * 50.0 / 50.0));
}

TEST_CASE("edge averages: the derivative is that of differences, with few entries a row", "[physics][mt]") {
  const auto model = tests::small_volume();
  // Edges of the second grid hold up to nine cells of the model across, in rows of any length.
  const bool is_coarse = GENERATE(false, true);
  const fem::EdgeGrid coarse({{{-9000, 0, 9000}, {-9000, 0, 9000}, {-3000, 0, 2000, 9000}}});
  const fem::EdgeGrid grid = is_coarse ? coarse : cutting_grid();
  const EdgeAverages averages(model.earth, grid);
  const core::SparseRows derivative = averages.mass_derivative(model.values);
  for (const int cell : {0, 4, 13, 26}) {
    const double h = 1e-4 * model.values[cell];
    Eigen::VectorXd up = model.values, down = model.values;
    up[cell] += h;
    down[cell] -= h;
    const Eigen::VectorXd difference = (averages.masses(up) - averages.masses(down)) / (2.0 * h);
    CHECK((derivative.col(cell) - difference).norm() < 1e-7 * difference.norm());
  }
  Eigen::Index longest = 0;
  for (Eigen::Index row = 0; row < derivative.rows(); ++row)
    longest = std::max<Eigen::Index>(longest, derivative.innerVector(row).nonZeros());
  CHECK((longest > 8) == is_coarse);
  if (!is_coarse) CHECK(derivative.nonZeros() < 12 * grid.n_edges());
}

TEST_CASE("background: the layered field is a null vector of the discrete operator", "[physics][mt]") {
  const auto model = tests::small_volume();
  const fem::EdgeGrid grid = cutting_grid();
  const Eigen::VectorXd masses =
      EdgeAverages(model.earth, grid).masses(layered_resistivity(model.earth.grid, model.values));
  for (const double frequency : {1e3, 1.0, 1e-4}) {
    for (const Polarization polarization : {Polarization::x, Polarization::y}) {
      const Eigen::VectorXcd u = layered_field(grid, masses, omega(frequency), polarization),
                             k = fem::curl_curl(grid, u);
      Eigen::VectorXcd residual = k + Complex(0.0, omega(frequency) * mu0) * masses.cwiseProduct(u);
      fem::clear_boundary_edges(grid, residual);
      CHECK(residual.norm() < 1e-12 * k.norm());
    }
  }
}

TEST_CASE("background: sides of a layered earth carry nothing beyond it", "[physics][mt]") {
  auto model = tests::small_volume();
  const Eigen::VectorXd layers = layered_resistivity(model.earth.grid, model.values);
  CHECK(boundary_difference(model.earth, layers, layered_resistivity(model.earth.grid, layers),
                            cutting_grid(), 1.0, Polarization::x)
            .isZero(0.0));
}

TEST_CASE("background: fields of the sides are divergence-free and solve their section", "[physics][mt]") {
  // A section along y that is uniform along x: the difference on the side x_min solves K w + iωμ₀M w =
  // −iωμ₀(M − M₀)u₀ on every inner node line of the volume, too, if nothing changes along x.
  auto model = tests::small_volume();
  const auto& parameters = model.earth.grid;
  for (int iz = 0; iz < 3; ++iz) {
    for (int iy = 0; iy < 3; ++iy)
      model.values.segment(parameters.index(iz, iy, 0), 3)
          .setConstant(model.values[parameters.index(iz, iy, 0)]);
  }
  const fem::EdgeGrid grid = cutting_grid();
  const EdgeAverages averages(model.earth, grid);
  const Eigen::VectorXd layers = layered_resistivity(parameters, model.values);
  const Eigen::VectorXd masses = averages.masses(model.values), layered_masses = averages.masses(layers);
  const double w = omega(0.3);
  const Eigen::VectorXcd u0 = layered_field(grid, layered_masses, w, Polarization::y);
  const Eigen::VectorXcd side =
      boundary_difference(model.earth, model.values, layers, grid, w, Polarization::y);
  Eigen::VectorXcd u = Eigen::VectorXcd::Zero(grid.n_edges());  // the side repeated along x
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (axis != 0)
      u[grid.edge(axis, i, j, k)] = u0[grid.edge(axis, i, j, k)] + side[grid.edge(axis, 0, j, k)];
  });
  const Eigen::VectorXcd k = fem::curl_curl(grid, u);
  Eigen::VectorXcd residual = k + Complex(0.0, w * mu0) * masses.cwiseProduct(u);
  fem::clear_boundary_edges(grid, residual);
  CHECK(side.norm() > 1e-3 * u0.norm());
  const double source = omega(0.3) * mu0 * (masses - layered_masses).cwiseProduct(u0.cwiseAbs()).norm();
  INFO(residual.norm() << " of a source of " << source << ", K u " << k.norm() << ", u " << u.norm());
  CHECK(residual.norm() < 1e-7 * source);  // K rounds the gradient part of u
}
