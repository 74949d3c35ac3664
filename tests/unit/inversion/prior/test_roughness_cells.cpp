// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/roughness_norm.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <vector>

using namespace lodestone;
using inversion::prior::roughness_operator;
using inversion::prior::RoughnessOptions;
using physics::mesh::Edges;
using physics::mesh::TensorGrid;
using Entries = std::vector<Eigen::Triplet<double>>;

namespace {

TensorGrid uneven_section() {
  return TensorGrid::section({-1234.5, -310.1, 17.3, 99.9, 512.7, 2047.3}, {3.3, 41.7, 137.2, 512.1, 1777.7});
}

RoughnessOptions odd_options() {
  return {.horizontal_weight = 1.7,
          .vertical_weight = 0.9,
          .depth_weight_exponent = 0.7,
          .horizontal_depth_exponent = -0.4,
          .depth_weight_z0_m = 123.4,
          .tears = {{{{0.0, 60.0, 0.0}, {0.0, 60.0, 300.0}}, 0.3}}};
}

/// Calls f(a, b, is_horizontal, length of the face, distance, depth) for the faces of a section, with
/// formulas for its rows and columns: an independent account of what the cells hold.
template <class F>
void for_each_face(const TensorGrid& grid, F&& f) {
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy + 1 < grid.n_y(); ++iy)
      f(grid.index(iz, iy), grid.index(iz, iy + 1), true, 2.0, z[iz + 1] - z[iz],
        (y[iy + 1] - y[iy]) + (y[iy + 2] - y[iy + 1]), grid.z_centre_m(iz));
  }
  for (int iz = 0; iz + 1 < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      f(grid.index(iz, iy), grid.index(iz + 1, iy), false, 2.0, y[iy + 1] - y[iy],
        (z[iz + 1] - z[iz]) + (z[iz + 2] - z[iz + 1]), z[iz + 1]);
  }
}

/// The first-order operator of a section from its rows and columns.
Eigen::SparseMatrix<double> of_rows_and_columns(const TensorGrid& grid, const RoughnessOptions& options) {
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  const double depth = z.back() - z.front(), length = 10.0 * std::max(y.back() - y.front(), depth);
  const auto relative = [&](double z_m) {
    return (z_m - z.front() + options.depth_weight_z0_m) / (depth + options.depth_weight_z0_m);
  };
  const auto centre = [&](Eigen::Index cell) {
    const int iy = static_cast<int>(cell) % grid.n_y(), iz = static_cast<int>(cell) / grid.n_y();
    return physics::mesh::Point{0.0, grid.y_centre_m(iy), grid.z_centre_m(iz)};
  };
  Entries entries;
  int row = 0;
  for_each_face(grid, [&](auto a, auto b, bool horizontal, double two, double face, double sum, double z_m) {
    const double ratio =
        std::pow(relative(z_m), *options.horizontal_depth_exponent - options.depth_weight_exponent);
    const double direction = horizontal ? options.horizontal_weight * ratio : options.vertical_weight;
    const double over = weight_across(options.tears, centre(a), centre(b)) * two * face / sum;
    const double factor =
        std::sqrt(direction * over * std::pow(relative(z_m), options.depth_weight_exponent));
    entries.emplace_back(row, static_cast<int>(a), -factor);
    entries.emplace_back(row++, static_cast<int>(b), factor);
  });
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      entries.emplace_back(row++, static_cast<int>(grid.index(iz, iy)),
                           std::sqrt((y[iy + 1] - y[iy]) * (z[iz + 1] - z[iz])) / length);
  }
  Eigen::SparseMatrix<double> result(row, grid.n_cells());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

bool same_bits(const Eigen::SparseMatrix<double>& a, const Eigen::SparseMatrix<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (Eigen::MatrixXd(a).array() == Eigen::MatrixXd(b).array()).all();
}

/// Returns 3 × 2 × 2 cells of 100 m × 200 m × 50 m.
TensorGrid block() { return TensorGrid(Edges{{0, 100, 200, 300}, {0, 200, 400}, {0, 50, 100}}); }

/// Returns one decade per kilometre along an axis.
Eigen::VectorXd slope_along(const TensorGrid& grid, physics::mesh::Axis axis) {
  const auto cells = physics::mesh::cells(grid);
  return Eigen::VectorXd::NullaryExpr(grid.n_cells(), [&](Eigen::Index cell) {
    return 1e-3 * cells.centre[static_cast<std::size_t>(cell)][axis];
  });
}

}  // namespace

TEST_CASE("roughness of cells: that of a section has the bits of formulas for its rows and columns",
          "[inversion]") {
  const TensorGrid grid = uneven_section();
  CHECK(n_faces_crossed(physics::mesh::cells(grid), odd_options().tears[0]) > 0);
  CHECK(same_bits(roughness_operator(grid, odd_options()), of_rows_and_columns(grid, odd_options())));
}

TEST_CASE("roughness of cells: a slope in a volume costs its square times the volume between centres",
          "[inversion]") {
  using physics::mesh::Axis;
  const TensorGrid grid = block();
  const RoughnessOptions options{
      .horizontal_weight = 2.0, .vertical_weight = 3.0, .smallness_length_m = 1e12};
  const auto cost = [&](Axis axis) {
    return (roughness_operator(grid, options) * slope_along(grid, axis)).squaredNorm();
  };
  CHECK(cost(Axis::x) == Approx(2.0 * 1e-6 * (200.0 * 400.0 * 100.0)));
  CHECK(cost(Axis::y) == Approx(2.0 * 1e-6 * (300.0 * 200.0 * 100.0)));
  CHECK(cost(Axis::z) == Approx(3.0 * 1e-6 * (300.0 * 400.0 * 50.0)));
}

TEST_CASE("roughness of cells: a volume torn by a curtain may jump across it free of cost", "[inversion]") {
  const TensorGrid grid = block();
  RoughnessOptions options{.smallness_length_m = 1e12};
  const Eigen::VectorXd jump = Eigen::VectorXd::NullaryExpr(
      grid.n_cells(), [](Eigen::Index cell) { return cell % 3 == 0 ? 0.0 : 1.0; });
  const double whole = (roughness_operator(grid, options) * jump).squaredNorm();
  options.tears = {{{{100, -50, 0}, {100, 450, 0}}, 0.0, physics::mesh::Plane::plan, {0.0, 50.0}}};
  CHECK((roughness_operator(grid, options) * jump).squaredNorm() == Approx(0.5 * whole));
  options.tears[0].z_m = {};
  CHECK((roughness_operator(grid, options) * jump).squaredNorm() < 1e-9 * whole);
}

TEST_CASE("roughness of cells: layers cost what a section of one column of width 1 m costs", "[inversion]") {
  const TensorGrid layers = TensorGrid::layers(10.0, 1.3, 9);
  const TensorGrid column = TensorGrid::section({0.0, 1.0}, layers.edges().z_m);
  for (const int order : {1, 2}) {
    const RoughnessOptions options{.order = order, .depth_weight_exponent = 1.0};
    CHECK(same_bits(roughness_operator(layers, options), roughness_operator(column, options)));
  }
  CHECK(same_bits(inversion::prior::scaled_gradient(layers, {}),
                  inversion::prior::scaled_gradient(column, {})));
}

TEST_CASE(
    "roughness: the outermost cells count along the edges as far as they reach, and constants stay free") {
  const auto grid = physics::mesh::TensorGrid::section({0.0, 100.0, 300.0, 400.0}, {0.0, 50.0, 200.0});
  const auto cost = [&](const Eigen::VectorXd& model, double reach) {
    return (roughness_operator(grid, {.smallness_length_m = 1e12, .edges_reach = reach}) * model)
        .squaredNorm();
  };
  const auto only = [&](int iz, int iy) {
    Eigen::VectorXd model = Eigen::VectorXd::Zero(grid.n_cells());
    model[grid.index(iz, iy)] = 1.0;
    return model;
  };
  // The upper left cell: its lower face is 100 m wide, and with half of the depth, 100 m, twice as wide.
  CHECK(cost(only(0, 0), 0.0) == Approx(100.0 / 100.0 + 50.0 / 150.0));
  CHECK(cost(only(0, 0), 0.5) == Approx(200.0 / 100.0 + 50.0 / 150.0));
  // The lowest cell of the middle: its sides are 150 m high, and reach 100 m below the grid.
  CHECK(cost(only(1, 1), 0.0) == Approx(200.0 / 100.0 + 2.0 * 150.0 / 150.0));
  CHECK(cost(only(1, 1), 0.5) == Approx(200.0 / 100.0 + 2.0 * 250.0 / 150.0));
  CHECK(cost(Eigen::VectorXd::Ones(grid.n_cells()), 0.5) == Approx(0.0).margin(1e-12));
  CHECK_THROWS_AS(roughness_operator(grid, {.edges_reach = -0.1}), core::InvalidArgument);
  CHECK_THROWS_AS(roughness_operator(grid, {.order = 2, .edges_reach = 0.3}), core::InvalidArgument);
}
