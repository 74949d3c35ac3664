// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using inversion::objective::Regularization;
using inversion::prior::roughness_operator;
using inversion::prior::RoughnessOptions;
using physics::mesh::geometric_edges_m;
using physics::mesh::TensorGrid;

namespace {

constexpr double width = 40e3, depth = 10e3;

std::vector<double> uniform_edges(double length, int n) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(length * i / n);
  return edges;
}

/// cos(πy/w)·cos(πz/d): no flux through the sides.
Eigen::VectorXd wave(const TensorGrid& grid) {
  Eigen::VectorXd m(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      m[grid.index(iz, iy)] = std::cos(std::numbers::pi * grid.y_centre_m(iy) / width) *
                              std::cos(std::numbers::pi * grid.z_centre_m(iz) / depth);
  }
  return m;
}

double cost(const TensorGrid& grid, const Eigen::VectorXd& m, RoughnessOptions options) {
  return (roughness_operator(grid, options) * m).squaredNorm();
}

/// The grid of a regional section: cells of kilometres over 2 m … 10 km.
TensorGrid regional_grid(int n_columns) {
  return TensorGrid::section(uniform_edges(790e3, n_columns), geometric_edges_m(2.0, 1.146, 64));
}

}  // namespace

TEST_CASE("roughness, first order: it is the integral of the squared gradient on any grid") {
  const double ky = std::numbers::pi / width, kz = std::numbers::pi / depth,
               quarter_area = 0.25 * width * depth;
  for (const auto& [n_y, n_z] : {std::pair{40, 20}, std::pair{80, 60}, std::pair{25, 50}}) {
    const TensorGrid grid = TensorGrid::section(uniform_edges(width, n_y), uniform_edges(depth, n_z));
    CHECK(cost(grid, wave(grid), {.smallness_length_m = 1e12}) ==
          Approx(quarter_area * (ky * ky + kz * kz)).epsilon(0.01));
    CHECK(cost(grid, wave(grid),
               {.horizontal_weight = 9.0, .vertical_weight = 0.5, .smallness_length_m = 1e12}) ==
          Approx(quarter_area * (9.0 * ky * ky + 0.5 * kz * kz)).epsilon(0.01));
  }
}

TEST_CASE("roughness, first order: a grid that grows with depth gives the same integral") {
  const double factor = 1.1;
  const int n = 40;
  const double first = depth * (factor - 1.0) / (std::pow(factor, n) - 1.0);
  const TensorGrid graded =
      TensorGrid::section(uniform_edges(width, 80), geometric_edges_m(first, factor, n));
  const TensorGrid uniform = TensorGrid::section(uniform_edges(width, 80), uniform_edges(depth, 100));
  CHECK(cost(graded, wave(graded), {}) == Approx(cost(uniform, wave(uniform), {})).epsilon(0.03));
}

TEST_CASE("roughness, second order: it is the integral of the squared Laplacian times the squared depth") {
  const double k2 = std::pow(std::numbers::pi / width, 2) + std::pow(std::numbers::pi / depth, 2);
  for (const int n : {20, 60}) {
    const TensorGrid grid = TensorGrid::section(uniform_edges(width, 2 * n), uniform_edges(depth, n));
    CHECK(cost(grid, wave(grid), {.order = 2, .smallness_length_m = 1e12}) ==
          Approx(0.25 * width * depth * k2 * k2 * depth * depth).epsilon(0.02));
  }
}

TEST_CASE("roughness: a constant model costs its smallness alone, in both orders, with weights or without") {
  const TensorGrid grid = regional_grid(20);
  const double area = 790e3 * grid.z_edges_m().back();
  for (const int order : {1, 2}) {
    for (const double exponent : {0.0, 1.5}) {
      const RoughnessOptions options{.order = order,
                                     .horizontal_weight = 4.0,
                                     .depth_weight_exponent = exponent,
                                     .smallness_length_m = 5e6};
      CHECK(cost(grid, Eigen::VectorXd::Constant(grid.n_cells(), 3.0), options) ==
            Approx(9.0 * area / 25e12).epsilon(1e-6));
    }
  }
  CHECK(cost(grid, Eigen::VectorXd::Ones(grid.n_cells()), {}) ==
        Approx(area / std::pow(7900e3, 2)).epsilon(1e-9));
}

TEST_CASE("roughness: depth weights make shallow structure cheap and leave the bottom alone") {
  const TensorGrid grid = regional_grid(20);
  Eigen::VectorXd shallow = Eigen::VectorXd::Zero(grid.n_cells()), deep = shallow;
  shallow[grid.index(2, 10)] = deep[grid.index(63, 10)] = 1.0;
  const RoughnessOptions weighted{.depth_weight_exponent = 1.0, .depth_weight_z0_m = 100.0};
  CHECK(cost(grid, shallow, weighted) < 2e-3 * cost(grid, shallow, {}));
  CHECK(cost(grid, deep, weighted) > 0.8 * cost(grid, deep, {}));
}

TEST_CASE("roughness: the horizontal part may have a depth weight of its own, in both orders") {
  const TensorGrid grid = TensorGrid::section(uniform_edges(width, 40), uniform_edges(depth, 50));
  for (const int order : {1, 2}) {
    const RoughnessOptions both{
        .order = order, .depth_weight_exponent = 1.0, .depth_weight_z0_m = 500.0, .smallness_length_m = 1e12};
    RoughnessOptions apart = both;
    apart.horizontal_depth_exponent = -1.0;
    Eigen::VectorXd along_y(grid.n_cells()), along_z(grid.n_cells());
    double expected = 0.0;  // ∫ q(z) of the horizontal weight, for cos(πy/w)
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      expected += (depth + 500.0) / (grid.z_centre_m(iz) + 500.0) * depth / grid.n_z();
      for (int iy = 0; iy < grid.n_y(); ++iy) {
        along_y[grid.index(iz, iy)] = std::cos(std::numbers::pi * grid.y_centre_m(iy) / width);
        along_z[grid.index(iz, iy)] = std::cos(std::numbers::pi * grid.z_centre_m(iz) / depth);
      }
    }
    CHECK(cost(grid, along_z, apart) == Approx(cost(grid, along_z, both)).epsilon(1e-9));
    const double k = std::numbers::pi / width;
    CHECK(
        cost(grid, along_y, apart) ==
        Approx(0.5 * width * expected * (order == 1 ? k * k : k * k * k * k * depth * depth)).epsilon(0.01));
  }
}

TEST_CASE("roughness: senseless options are refused") {
  const TensorGrid grid = regional_grid(3);
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(roughness_operator(grid, {.order = 3})); }),
             tests::HasId("wrong_order", {"3"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(roughness_operator(grid, {.horizontal_weight = 0.0})); }),
             tests::HasId("wrong_weights", {"0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(roughness_operator(grid, {.depth_weight_z0_m = -1.0})); }),
             tests::HasId("wrong_depth_weights", {"-1 m"}));
  CHECK_THROWS_AS(roughness_operator(grid, {.horizontal_depth_exponent = NAN}), core::InvalidArgument);
  CHECK_THROWS_AS(roughness_operator(grid, {.smallness_length_m = NAN}), core::InvalidArgument);
}

TEST_CASE("regularization: S Sᵀ is the inverse of RᵀR on cells from 2 m to 10 km, in both orders") {
  const TensorGrid grid = regional_grid(40);
  for (const int order : {1, 2}) {
    for (const double exponent : {0.0, 1.0}) {
      const Regularization regularization(
          roughness_operator(grid, {.order = order, .depth_weight_exponent = exponent}),
          Eigen::VectorXd::Constant(grid.n_cells(), 2.0));
      const auto& r = regularization.roughness();
      const Eigen::MatrixXd b = tests::random_matrix(grid.n_cells(), 3, 6);
      const Eigen::MatrixXd image = r * regularization.apply_root(b);
      CHECK((regularization.apply_root_transposed(r.transpose() * image) - b).norm() < 1e-6 * b.norm());
      for (Eigen::Index i = 0; i < 3; ++i)
        CHECK(image.col(i).norm() == Approx(b.col(i).norm()).epsilon(1e-7));
      const Eigen::VectorXd x = wave(grid);
      if (order == 2) {  // RᵀR itself has no digits left here; R has
        CHECK((regularization.apply_root(r * x).col(0) - x).norm() < 1e-6 * x.norm());
        continue;
      }
      const Eigen::VectorXd cx = regularization.apply_root(regularization.apply_root_transposed(x)).col(0);
      CHECK((r.transpose() * (r * cx).eval() - x).norm() < 1e-6 * x.norm());
    }
  }
}

TEST_CASE("regularization: the root and its transpose are adjoint, column by column") {
  const TensorGrid grid = regional_grid(10);
  for (const int order : {1, 2}) {
    const Regularization regularization(roughness_operator(grid, {.order = order}),
                                        Eigen::VectorXd::Zero(grid.n_cells()));
    const Eigen::MatrixXd a = tests::random_matrix(grid.n_cells(), 19, 7),
                          b = tests::random_matrix(grid.n_cells(), 19, 8);
    const Eigen::MatrixXd sa = regularization.apply_root(a), stb = regularization.apply_root_transposed(b);
    for (Eigen::Index i = 0; i < 19; ++i)
      CHECK(b.col(i).dot(sa.col(i)) == Approx(stb.col(i).dot(a.col(i))).epsilon(1e-8));
    CHECK((regularization.apply_root(a.col(17)) - sa.col(17)).norm() <= 1e-12 * sa.col(17).norm());
    CHECK(regularization.flops_per_column() > static_cast<double>(grid.n_cells()));
  }
}

TEST_CASE("regularization: conjugate gradients in place of a large factor apply the same covariance") {
  const TensorGrid grid = regional_grid(12);
  const auto r = roughness_operator(grid, {.depth_weight_exponent = 1.0});
  const Eigen::VectorXd reference = Eigen::VectorXd::Constant(grid.n_cells(), 2.0);
  const Regularization factorized(r, reference), iterated(r, reference, 100.0);
  REQUIRE(factorized.root_size() == grid.n_cells());
  REQUIRE(iterated.root_size() == r.rows());
  const Eigen::MatrixXd a = tests::random_matrix(grid.n_cells(), 3, 7),
                        b = tests::random_matrix(r.rows(), 3, 8);
  const Eigen::MatrixXd expected = factorized.apply_covariance(a);
  CHECK((iterated.apply_covariance(a) - expected).norm() < 1e-7 * expected.norm());
  CHECK((iterated.apply_root(iterated.apply_root_transposed(a)) - expected).norm() < 1e-7 * expected.norm());
  for (Eigen::Index i = 0; i < 3; ++i)
    CHECK(a.col(i).dot(iterated.apply_root(b).col(i)) ==
          Approx(iterated.apply_root_transposed(a).col(i).dot(b.col(i))).epsilon(1e-8));
  CHECK_THROWS_AS(iterated.apply_root(a), core::ShapeError);
  CHECK(iterated.flops_per_column() > static_cast<double>(grid.n_cells()));
}

TEST_CASE("regularization: cost is measured from the reference model") {
  const auto regularization = tests::line_roughness(5, 2.0);
  CHECK(regularization->cost(Eigen::VectorXd::Constant(5, 2.0)) == 0.0);
  CHECK(regularization->cost(Eigen::VectorXd::Constant(5, 3.0)) == Approx(5 * 0.0025));
}

TEST_CASE("regularization: a singular operator is refused") {
  Eigen::SparseMatrix<double> differences(9, 10);
  for (int i = 0; i < 9; ++i) {
    differences.insert(i, i) = -0.3;
    differences.insert(i, i + 1) = 0.3;
  }
  CHECK_THROWS_AS(Regularization(differences, Eigen::VectorXd::Zero(10)), core::SolverError);
  CHECK_THROWS_AS(Regularization(differences, Eigen::VectorXd::Zero(10), 1.0), core::SolverError);
  CHECK_THAT(tests::error_of<core::SolverError>(
                 [&] { static_cast<void>(Regularization(differences, Eigen::VectorXd::Zero(10))); }),
             tests::HasId("not_positive_definite"));
  Eigen::SparseMatrix<double> square(2, 2);
  square.insert(0, 0) = 1.0;
  square.insert(1, 0) = 1.0;
  CHECK_THAT(tests::error_of<core::SolverError>(
                 [&] { static_cast<void>(Regularization(square, Eigen::VectorXd::Zero(2))); }),
             tests::HasId("singular"));
  CHECK_THROWS_AS(Regularization(differences, Eigen::VectorXd::Zero(9)), core::ShapeError);
}
