// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/fem/edge_operator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::physics::fem;
using tests::error_of;
using tests::HasId;

namespace {

EdgeGrid small_grid() { return EdgeGrid({{{0, 1, 3, 4}, {-2, 0, 1, 5, 6}, {0, 2, 3}}}); }
Eigen::VectorXcd some(Eigen::Index n) {
  return Eigen::VectorXcd::NullaryExpr(
      n, [](Eigen::Index i) { return std::complex<double>(std::sin(1.3 * i), std::cos(0.7 * i)); });
}

}  // namespace

TEST_CASE("edge grid: numbers follow each other, and counts are those of the lattice", "[physics][fem]") {
  const EdgeGrid grid = small_grid();
  Eigen::Index next = 0, inner = 0;
  for_each_edge(grid, [&](int axis, int i, int j, int k) {
    CHECK(grid.edge(axis, i, j, k) == next++);
    inner += grid.is_inner_edge(axis, i, j, k) ? 1 : 0;
  });
  CHECK(next == grid.n_edges());
  CHECK(grid.n_edges() == 3 * 5 * 3 + 4 * 4 * 3 + 4 * 5 * 2);
  CHECK(grid.n_inner_edges() == inner);
  CHECK(inner == 3 * 3 * 1 + 2 * 4 * 1 + 2 * 3 * 2);
  CHECK(grid.dual_m(1, 0) == 1.0);
  CHECK(grid.dual_m(1, 2) == 2.5);
}

TEST_CASE("edge grid: lines that do not increase are an error", "[physics][fem]") {
  CHECK_THAT(error_of<core::InvalidArgument>([] {
               EdgeGrid({{{0, 1}, {0, 2, 2}, {0, 1}}});
             }),
             HasId("not_increasing", {"y", "2"}));
  CHECK_THAT(error_of<core::InvalidArgument>([] {
               EdgeGrid({{{0, 1}, {0, 2}, {0}}});
             }),
             HasId("too_few_lines", {"z", "1"}));
}

TEST_CASE("edge operator: gradients have no curl, and K is symmetric", "[physics][fem]") {
  const EdgeGrid grid = small_grid();
  const Eigen::VectorXcd gradient_of = gradient(grid, some(grid.n_nodes())), u = some(grid.n_edges()),
                         v = some(grid.n_edges() + 5).tail(grid.n_edges());
  CHECK(curl_curl(grid, gradient_of).norm() < 1e-13 * gradient_of.norm());
  CHECK(std::abs((v.transpose() * curl_curl(grid, u) - u.transpose() * curl_curl(grid, v))(0)) <
        1e-12 * u.norm() * v.norm());
  CHECK(gradient_transposed(grid, curl_curl(grid, u)).norm() < 1e-12 * curl_curl(grid, u).norm());
}

TEST_CASE("edge operator: a field that turns at a constant rate has its energy in the faces across",
          "[physics][fem]") {
  // E = (−y, x, 0)/2 has curl (0, 0, 1): ½ ∫ |curl E|² over the volume is half its size.
  const EdgeGrid grid = small_grid();
  Eigen::VectorXcd u(grid.n_edges());
  for_each_edge(grid, [&](int axis, int i, int j, int k) {
    const double x = grid.lines_m(0)[i], y = grid.lines_m(1)[j];
    u[grid.edge(axis, i, j, k)] = axis == 0   ? -0.5 * y * grid.width_m(0, i)
                                  : axis == 1 ? 0.5 * x * grid.width_m(1, j)
                                              : 0.0;
  });
  const double energy = (u.transpose() * curl_curl(grid, u))(0).real();
  CHECK(energy == Approx(4.0 * 8.0 * 3.0));
}

TEST_CASE("pair matrix: it is the operator on e + Gφ, with the rows of nodes times Gᵀ", "[physics][fem]") {
  const EdgeGrid grid = small_grid();
  PairUnknowns all{Eigen::VectorXi::LinSpaced(grid.n_edges(), 0, static_cast<int>(grid.n_edges()) - 1),
                   Eigen::VectorXi::LinSpaced(grid.n_nodes(), static_cast<int>(grid.n_edges()),
                                              static_cast<int>(grid.n_edges() + grid.n_nodes()) - 1),
                   static_cast<int>(grid.n_edges() + grid.n_nodes())};
  const Eigen::VectorXd mass = Eigen::VectorXd::LinSpaced(grid.n_edges(), 0.1, 2.0);
  const Eigen::VectorXcd e = some(grid.n_edges()), phi = some(grid.n_nodes());
  Eigen::VectorXcd pair(all.count);
  pair << e, phi;
  const Eigen::VectorXcd result = pair_matrix(grid, mass, all) * pair;
  const Eigen::VectorXcd current = std::complex<double>(0, 1) * mass.cwiseProduct(e + gradient(grid, phi));
  CHECK((result.head(grid.n_edges()) - curl_curl(grid, e) - current).norm() < 1e-12 * result.norm());
  CHECK((result.tail(grid.n_nodes()) - gradient_transposed(grid, current)).norm() < 1e-12 * result.norm());
}
