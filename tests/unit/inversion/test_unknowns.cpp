// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "inversion/regularizer.hpp"
#include "inversion/unknowns.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numeric>

using namespace lodestone;
using inversion::Bounds;
using inversion::FreeCells;
using inversion::Unknowns;
using physics::mesh::Scale;
using physics::mesh::TensorGrid;

namespace {

/// Returns 3 columns × 2 rows.
TensorGrid small_grid() { return TensorGrid::section({0, 100, 200, 300}, {0, 100, 300}); }

FreeCells all_free() {
  FreeCells cells{std::vector<Eigen::Index>(6), Eigen::VectorXd::Constant(6, 1.0)};
  std::iota(cells.cells.begin(), cells.cells.end(), Eigen::Index{0});
  return cells;
}

/// The first cell is held at 0.3 ohm m.
FreeCells without_first() {
  FreeCells cells{{1, 2, 3, 4, 5}, Eigen::VectorXd::Constant(6, 1.0)};
  cells.held[0] = std::log10(0.3);
  return cells;
}

}  // namespace

TEST_CASE("unknowns: the slope of the cells is that of the bounds' transform, and 1 without", "[inversion]") {
  const Unknowns free(all_free(), Scale::log10, {}), bounded(all_free(), Scale::log10, Bounds{0.0, 3.0});
  const Eigen::VectorXd unknowns = Eigen::VectorXd::LinSpaced(6, -2.0, 2.0);
  CHECK(free.slope_of_cells(unknowns) == Eigen::VectorXd::Ones(6));
  constexpr double step = 1e-6;
  const Eigen::VectorXd ahead = bounded.to_cells((unknowns.array() + step).matrix()),
                        behind = bounded.to_cells((unknowns.array() - step).matrix());
  CHECK((bounded.slope_of_cells(unknowns) - (ahead - behind) / (2.0 * step)).norm() < 1e-8);
}

TEST_CASE("unknowns: held cells stay, bounds hold for the others, further unknowns follow", "[inversion]") {
  const Unknowns unknowns(without_first(), Scale::log10, Bounds{0.0, 3.0}, 2);
  CHECK(unknowns.n_free() == 5);
  Eigen::VectorXd start = Eigen::VectorXd::Constant(6, 2.0);
  start[0] = std::log10(0.3);
  const Eigen::VectorXd x = unknowns.with_zeros(start);
  REQUIRE(x.size() == 7);
  CHECK(unknowns.further_of(x).norm() == 0.0);
  CHECK((unknowns.to_cells(x) - start).norm() < 1e-12);
  const auto identity = core::affine(Eigen::MatrixXd::Identity(6, 6), Eigen::VectorXd::Zero(6));
  const Eigen::VectorXd resistivity = unknowns.behind(identity)->value(x.head(5));
  CHECK(resistivity[0] == Approx(0.3));
  CHECK(resistivity[3] == Approx(100.0));
}

TEST_CASE("unknowns: maps that take what the model holds get it as it is", "[inversion]") {
  const Unknowns unknowns(without_first(), Scale::linear, {});
  const auto identity = core::affine(Eigen::MatrixXd::Identity(6, 6), Eigen::VectorXd::Zero(6));
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(5, 1.0, 5.0);
  const Eigen::VectorXd values = unknowns.behind(identity)->value(x);
  CHECK(values[0] == std::log10(0.3));
  CHECK(values.tail(5) == x);
  const Unknowns all(all_free(), Scale::linear, {});
  CHECK(all.behind(identity) == identity);
}

TEST_CASE("regularizer: a further unknown of a decade costs as much as a model a decade from the reference",
          "[inversion]") {
  const Unknowns unknowns(all_free(), Scale::log10, {}, 1);
  const Eigen::VectorXd reference = Eigen::VectorXd::Constant(6, 1.0), start = 2.0 * reference;
  const inversion::Regularizer regularizer(small_grid(), {}, {}, reference, unknowns);
  Eigen::VectorXd x = unknowns.with_zeros(reference);
  const auto regularization = regularizer.at(x);
  CHECK(regularization->cost(x) == 0.0);
  x[6] = 1.0;
  CHECK(regularization->cost(x) == Approx(regularization->cost(unknowns.with_zeros(start))));
  CHECK_FALSE(regularizer.reweigh());
}
