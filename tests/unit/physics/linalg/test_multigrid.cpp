// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/krylov.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/edge_problem.hpp"

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::linalg;
using namespace lodestone::physics::linalg::multigrid;
using tests::edge_problem;

namespace {

PairBlock random_pair(const fem::EdgeGrid& grid) {
  PairBlock pair(grid, 1);
  pair.edges.setRandom();
  pair.nodes.setRandom();
  Eigen::VectorXcd edges = pair.edges.col(0), nodes = pair.nodes.col(0);
  fem::clear_boundary_edges(grid, edges);
  fem::clear_boundary_nodes(grid, nodes);
  pair.edges.col(0) = edges;
  pair.nodes.col(0) = nodes;
  return pair;
}

std::complex<double> bilinear(const PairBlock& a, const PairBlock& b) {
  return (a.edges.transpose() * b.edges)(0) + (a.nodes.transpose() * b.nodes)(0);
}

}  // namespace

TEST_CASE("multigrid: the operator in rows of vectors is that of the faces", "[physics][linalg]") {
  const auto problem = edge_problem({.n_side = 11, .n_pad = 3, .n_earth = 6, .n_air = 4});
  const fem::EdgeGrid& grid = *problem.system.grid;
  const PairBlock x = random_pair(grid), b = random_pair(grid);
  const Level<double> level(grid, problem.system.mass);
  Field<double> x_rows(level.layout()), b_rows(level.layout()), r_rows(level.layout());
  read_pair(grid, x, 0, x_rows);
  read_pair(grid, b, 0, b_rows);
  residual(level, &b_rows, x_rows, r_rows);
  PairBlock r(grid, 1);
  write_pair(grid, r_rows, 0, r);
  const std::complex<double> i(0.0, 1.0);
  const Eigen::VectorXcd current = problem.system.mass.asDiagonal() * circulation(grid, x, 0);
  Eigen::VectorXcd edges = b.edges.col(0) - fem::curl_curl(grid, x.edges.col(0)) - i * current;
  Eigen::VectorXcd nodes = b.nodes.col(0) - i * fem::gradient_transposed(grid, current);
  fem::clear_boundary_edges(grid, edges);
  fem::clear_boundary_nodes(grid, nodes);
  CHECK((r.edges.col(0) - edges).norm() < 1e-13 * edges.norm());
  CHECK((r.nodes.col(0) - nodes).norm() < 1e-13 * nodes.norm());
}

TEST_CASE("multigrid: interpolation commutes with the gradient, and residuals go by its transpose",
          "[physics][linalg]") {
  const auto problem = edge_problem({.n_side = 12, .n_pad = 4, .n_earth = 9, .n_air = 4});
  const fem::EdgeGrid& fine = *problem.system.grid;
  const auto coarse = coarser(fine, problem.system.ground, first_threshold_m(fine));
  REQUIRE(coarse);
  const Transfer<double> transfer(fine, *coarse);
  const Layout fine_layout(fine), coarse_layout(coarse->grid);
  const auto prolonged = [&](const PairBlock& pair) {
    Field<double> from(coarse_layout), to(fine_layout);
    read_pair(coarse->grid, pair, 0, from);
    transfer.add_from_coarse(from, to);
    PairBlock result(fine, 1);
    write_pair(fine, to, 0, result);
    return result;
  };
  const PairBlock pair = random_pair(coarse->grid);
  PairBlock gradient(coarse->grid, 1);
  gradient.edges.col(0) = fem::gradient(coarse->grid, pair.nodes.col(0));
  const Eigen::VectorXcd expected = fem::gradient(fine, prolonged(pair).nodes.col(0));
  CHECK((prolonged(gradient).edges.col(0) - expected).norm() < 1e-13 * expected.norm());
  const PairBlock right = random_pair(fine);
  Field<double> from(fine_layout), to(coarse_layout);
  read_pair(fine, right, 0, from);
  transfer.restrict_to_coarse(from, to);
  PairBlock restricted(coarse->grid, 1);
  write_pair(coarse->grid, to, 0, restricted);
  CHECK(std::abs(bilinear(restricted, pair) - bilinear(right, prolonged(pair))) <
        1e-12 * std::abs(bilinear(restricted, pair)));
}

TEST_CASE("multigrid: grids keep the ground while layers are many and end at four inner lines",
          "[physics][linalg]") {
  fem::EdgeGrid grid = *tests::edge_grid({.n_side = 30, .n_pad = 8, .n_earth = 20, .n_air = 8});
  int ground = 8, n_levels = 1;
  double threshold = first_threshold_m(grid);
  while (auto coarse = coarser(grid, ground, threshold)) {
    CHECK(static_cast<double>(coarse->grid.n_cells()) <= 0.7 * static_cast<double>(grid.n_cells()));
    if (grid.n(2) > 6) CHECK(coarse->grid.lines_m(2)[coarse->ground] == grid.lines_m(2)[ground]);
    for (int axis = 0; axis < 3; ++axis) CHECK(coarse->grid.n(axis) >= 2);
    grid = coarse->grid;
    ground = coarse->ground;
    threshold = coarse->threshold_m;
    ++n_levels;
  }
  CHECK((grid.n(0) - 1) * (grid.n(1) - 1) <= 4);
  CHECK(n_levels > 4);
}

TEST_CASE("multigrid: the cycle is symmetric to its rounding", "[physics][linalg]") {
  const auto problem = edge_problem({.n_side = 13, .n_pad = 4, .n_earth = 8, .n_air = 4, .period_s = 1.0});
  const fem::EdgeGrid& grid = *problem.system.grid;
  const auto cycle = make_cycle<double>(problem.system);
  const Layout layout(grid);
  const auto applied = [&](const PairBlock& pair) {
    Field<double> r(layout), z(layout);
    read_pair(grid, pair, 0, r);
    cycle->apply(r, z, *cycle->make_work());
    PairBlock result(grid, 1);
    write_pair(grid, z, 0, result);
    return result;
  };
  // ρ = Gᵀr, as residuals have it; only then do e and φ mean something together
  const auto consistent = [&](unsigned seed) {
    std::srand(seed);
    PairBlock pair = random_pair(grid);
    Eigen::VectorXcd nodes = fem::gradient_transposed(grid, pair.edges.col(0));
    fem::clear_boundary_nodes(grid, nodes);
    pair.nodes.col(0) = nodes;
    return pair;
  };
  const PairBlock a = consistent(1), b = consistent(2);
  const auto ab = bilinear(a, applied(b)), ba = bilinear(b, applied(a));
  CHECK(std::abs(ab - ba) < 1e-9 * std::abs(ab));
}
