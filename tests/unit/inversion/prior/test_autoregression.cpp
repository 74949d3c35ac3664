// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/autoregression.hpp"
#include "inversion/regularizer.hpp"
#include "physics/mesh/cells.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>
#include <numeric>

using namespace lodestone;
using inversion::objective::Regularization;
using inversion::prior::Autoregression;
using inversion::prior::autoregression_operator;
using physics::mesh::TensorGrid;
using tests::error_of;
using tests::HasId;

namespace {

constexpr int n_x = 5, n_y = 4, n_z = 3;

TensorGrid grid_of(int along_x, int along_y, int along_z) {
  const auto edges = [](int n) {
    std::vector<double> out(static_cast<std::size_t>(n) + 1);
    std::iota(out.begin(), out.end(), 0.0);
    return out;
  };
  return TensorGrid({.x_m = edges(along_x), .y_m = edges(along_y), .z_m = edges(along_z)});
}

/// A smoothing that differs between layers, with two areas and an exception between them.
Autoregression mixed() {
  Autoregression out{.x_smoothing = {0.3, 0.2, 0.5},
                     .y_smoothing = {0.1, 0.4, 0.3},
                     .z_smoothing = 0.25,
                     .n_times = 2,
                     .area_of_cell = std::vector<int>(n_x * n_y * n_z, 1),
                     .borders = {{2, 1, 0.05}}};
  for (std::size_t cell = 0; cell < out.area_of_cell.size(); cell += 3) out.area_of_cell[cell] = 2;
  return out;
}

Autoregression even(int layers, double smoothing, int n_times) {
  const std::vector<double> of_layers(static_cast<std::size_t>(layers), smoothing);
  return {.x_smoothing = of_layers, .y_smoothing = of_layers, .z_smoothing = smoothing, .n_times = n_times};
}

std::vector<Eigen::Index> all_of(const TensorGrid& grid) {
  std::vector<Eigen::Index> cells(static_cast<std::size_t>(grid.n_cells()));
  std::iota(cells.begin(), cells.end(), 0);
  return cells;
}

/// S w as the loops say it: to and fro along x, y and z.
Eigen::VectorXd smoothed(Eigen::VectorXd m, const Autoregression& options) {
  const auto index = [](int ix, int iy, int iz) { return (iz * n_y + iy) * n_x + ix; };
  const auto link = [&](int a, int b, double usual) {
    return options.area_of_cell[static_cast<std::size_t>(a)] ==
                   options.area_of_cell[static_cast<std::size_t>(b)]
               ? usual
               : options.borders[0].smoothing;
  };
  const auto to_and_fro = [&](int n, auto&& at, double usual) {
    for (int i = 1; i < n; ++i) m[at(i)] += link(at(i), at(i - 1), usual) * m[at(i - 1)];
    for (int i = n - 2; i >= 0; --i) m[at(i)] += link(at(i), at(i + 1), usual) * m[at(i + 1)];
  };
  for (int time = 0; time < options.n_times; ++time) {
    for (int iz = 0; iz < n_z; ++iz) {
      const double x = options.x_smoothing[static_cast<std::size_t>(iz)],
                   y = options.y_smoothing[static_cast<std::size_t>(iz)];
      m.segment(index(0, 0, iz), n_x * n_y) *= std::pow((1 - x) * (1 - y) * (1 - options.z_smoothing), 2);
      for (int iy = 0; iy < n_y; ++iy)
        to_and_fro(
            n_x, [&](int i) { return index(i, iy, iz); }, x);
      for (int ix = 0; ix < n_x; ++ix)
        to_and_fro(
            n_y, [&](int i) { return index(ix, i, iz); }, y);
    }
    for (int i = 0; i < n_x * n_y; ++i)
      to_and_fro(
          n_z, [&](int iz) { return iz * n_x * n_y + i; }, options.z_smoothing);
  }
  return m;
}

}  // namespace

TEST_CASE("autoregression: the root of the covariance is the recursion to and fro along each axis") {
  const TensorGrid grid = grid_of(n_x, n_y, n_z);
  const auto product = autoregression_operator(grid, mixed(), all_of(grid), Eigen::VectorXd());
  const Eigen::MatrixXd white = tests::random_matrix(grid.n_cells(), 3, 1);
  const Eigen::MatrixXd model = product.solve(white);
  for (int k = 0; k < 3; ++k)
    CHECK((model.col(k) - smoothed(white.col(k), mixed())).lpNorm<Eigen::Infinity>() < 1e-14);
  const Eigen::MatrixXd r(product.matrix());
  CHECK((r * model - white).lpNorm<Eigen::Infinity>() < 1e-12);
  CHECK((r.transpose() * product.solve_transposed(white) - white).lpNorm<Eigen::Infinity>() < 1e-12);
}

TEST_CASE("autoregression: a regularization takes the factors as they are") {
  const TensorGrid grid = grid_of(n_x, n_y, n_z);
  const Eigen::VectorXd reference = Eigen::VectorXd::Constant(grid.n_cells(), 2.0);
  const auto product = autoregression_operator(grid, mixed(), all_of(grid), Eigen::VectorXd());
  const Regularization regularization(product, reference);
  const Eigen::MatrixXd r(product.matrix()), b = tests::random_matrix(grid.n_cells(), 4, 2);
  CHECK(regularization.root_size() == grid.n_cells());
  CHECK((r * regularization.apply_root(b) - b).norm() < 1e-12 * b.norm());
  CHECK((r.transpose() * r * regularization.apply_covariance(b) - b).norm() < 1e-11 * b.norm());
  const Eigen::VectorXd model = reference + b.col(0);
  CHECK(regularization.cost(model) == Approx((r * b.col(0)).squaredNorm()));
}

TEST_CASE("autoregression: a constant is kept far from the ends, whatever the layers") {
  const TensorGrid grid = grid_of(41, 41, 41);
  Autoregression options = even(41, 0.3, 2);
  for (std::size_t layer = 0; layer < 41; layer += 2) options.x_smoothing[layer] = 0.1;
  const auto product = autoregression_operator(grid, options, all_of(grid), Eigen::VectorXd());
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(grid.n_cells());
  CHECK(std::abs(product.solve(ones)(grid.index(20, 20, 20), 0) - 1.0) < 1e-8);
}

TEST_CASE("autoregression: nothing passes through held cells, and further unknowns stand alone") {
  const TensorGrid grid = grid_of(5, 1, 1);
  const std::vector<Eigen::Index> sides{0, 1, 3, 4};
  const Eigen::VectorXd weights = Eigen::VectorXd::Constant(2, 4.0);
  const auto product = autoregression_operator(grid, even(1, 0.5, 1), sides, weights);
  const Eigen::MatrixXd s = product.solve(Eigen::MatrixXd::Identity(6, 6));
  CHECK(s.topRightCorner(2, 4).isZero());
  CHECK(s.bottomLeftCorner(4, 2).isZero());
  CHECK(s.bottomRightCorner(2, 2).isApprox(0.25 * Eigen::MatrixXd::Identity(2, 2)));
  // One axis of cells: m₀ = w₀/4, then to and fro with α = 1/2.
  CHECK(s(0, 0) == Approx(0.25 * 1.25));
  CHECK(s(1, 0) == Approx(0.25 * 0.5));
}

TEST_CASE("autoregression: without repetitions cells are independent") {
  const TensorGrid grid = grid_of(3, 2, 2);
  const auto product = autoregression_operator(grid, even(2, 0.3, 0), all_of(grid), Eigen::VectorXd());
  CHECK(Eigen::MatrixXd(product.matrix()).isIdentity());
}

TEST_CASE("autoregression: numbers of another grid and smoothing that never ends are refused") {
  const TensorGrid grid = grid_of(3, 2, 2);
  const auto make = [&](const Autoregression& options) {
    return autoregression_operator(grid, options, all_of(grid), Eigen::VectorXd());
  };
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(make(even(3, 0.3, 1))); }),
             HasId("wrong_layers", {"2 layers", "3"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(make(even(2, 1.0, 1))); }),
             HasId("wrong_smoothing", {"1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(make(even(2, 0.3, -1))); }),
             HasId("wrong_repetitions", {"-1"}));
  Autoregression areas = even(2, 0.3, 1);
  areas.area_of_cell = {1, 2};
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(make(areas)); }),
             HasId("wrong_areas", {"12", "2"}));
  areas = even(2, 0.3, 1);
  areas.borders = {{1, 2, -0.5}};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(make(areas)); }),
             HasId("wrong_smoothing", {"-0.5"}));
}

TEST_CASE("autoregression: a regularizer takes it for cells in the norm l2, with further unknowns") {
  const TensorGrid grid = TensorGrid::section({0, 100, 200, 300}, {0, 100, 300});
  const Eigen::VectorXd reference = Eigen::VectorXd::Constant(6, 2.0);
  const inversion::FreeCells but_one{{1, 2, 3, 4, 5}, reference};
  const inversion::Unknowns unknowns(but_one, physics::mesh::Scale::log10, {}, 1);
  inversion::prior::RoughnessOptions roughness{.autoregression = even(2, 0.3, 1)};
  roughness.autoregression->x_smoothing = {0.9, 0.9};  // along an axis that a section lacks
  const inversion::Regularizer regularizer(grid, roughness, {}, reference, unknowns);
  CHECK_FALSE(regularizer.reweigh());
  Eigen::VectorXd x = unknowns.with_zeros(reference);
  const auto regularization = regularizer.at(x);
  CHECK(regularization->cost(x) == 0.0);
  x[5] = 1.0;
  CHECK(regularization->cost(x) == Approx(5.0));  // of five free cells, a decade from the reference
  x = unknowns.with_zeros(reference);
  x[4] = 3.0;  // the last cell: 1 + α² along y and along z, by the scale of both
  CHECK(regularization->residual(x)[4] == Approx(std::pow(1.09 / 0.49, 2)));
  const auto in_l1 = [&] {
    inversion::Regularizer(grid, roughness, {.norm = inversion::prior::RoughnessNorm::l1}, reference,
                           unknowns);
  };
  CHECK_THAT(error_of<core::InvalidArgument>(in_l1), HasId("covariance_alone", {"another norm"}));
}
