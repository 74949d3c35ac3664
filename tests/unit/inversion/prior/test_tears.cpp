// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using inversion::prior::of_free_cells;
using inversion::prior::roughness_operator;
using inversion::prior::with_further_unknowns;
using physics::mesh::cells;
using physics::mesh::Tear;
using physics::mesh::TensorGrid;

namespace {

Tear line(const std::vector<physics::mesh::Flat>& places, double weight = 0.0) {
  return {physics::mesh::points(places), weight};
}

TensorGrid six_by_four() {
  return TensorGrid::section({0, 100, 200, 300, 400, 500, 600}, {0, 100, 200, 300, 400});
}

/// Returns one decade higher right of y = 300 m.
Eigen::VectorXd step(const TensorGrid& grid) {
  return Eigen::VectorXd::NullaryExpr(grid.n_cells(),
                                      [&](Eigen::Index i) { return i % grid.n_y() < 3 ? 0.0 : 1.0; });
}

double cost(const TensorGrid& grid, const Eigen::VectorXd& m,
            const inversion::prior::RoughnessOptions& options) {
  return (roughness_operator(grid, options) * m).squaredNorm();
}

}  // namespace

TEST_CASE("tear: a jump across it costs nothing, in both orders, and elsewhere as much as before",
          "[inversion]") {
  const TensorGrid grid = six_by_four();
  const Tear whole = line({{300, -50}, {300, 450}}), upper = line({{300, -50}, {300, 200}});
  for (const int order : {1, 2}) {
    inversion::prior::RoughnessOptions options{.order = order, .smallness_length_m = 1e9};
    const double without = cost(grid, step(grid), options);
    options.tears = {upper};
    const double half = cost(grid, step(grid), options);
    options.tears = {whole};
    CHECK(cost(grid, step(grid), options) < 1e-9 * without);
    if (order == 1) CHECK(half == Approx(0.5 * without));
    CHECK(half < without);
    // A gradient along the line is not touched by it.
    const auto row_of = [&](Eigen::Index i) { return i / grid.n_y(); };
    const Eigen::VectorXd layers = Eigen::VectorXd::NullaryExpr(
        grid.n_cells(), [&](Eigen::Index i) { return static_cast<double>(row_of(i)); });
    const double torn = cost(grid, layers, options);
    options.tears.clear();
    CHECK(torn == Approx(cost(grid, layers, options)));
  }
}

TEST_CASE("tear: its weight scales the roughness across, and the smallest of several counts", "[inversion]") {
  const TensorGrid grid = six_by_four();
  inversion::prior::RoughnessOptions options{.smallness_length_m = 1e9};
  const double without = cost(grid, step(grid), options);
  options.tears = {line({{300, -50}, {300, 450}}, 0.25)};
  CHECK(cost(grid, step(grid), options) == Approx(0.25 * without));
  options.tears.push_back(line({{250, 0}, {350, 400}}, 0.1));
  CHECK(cost(grid, step(grid), options) < 0.25 * without);
}

TEST_CASE("tear: faces are counted, none outside the grid", "[inversion]") {
  const TensorGrid grid = six_by_four();
  CHECK(n_faces_crossed(cells(grid), line({{300, -50}, {300, 450}})) == 4);
  CHECK(n_faces_crossed(cells(grid), line({{-100, 200}, {320, 200}, {320, 390}})) == 5);
  CHECK(n_faces_crossed(cells(grid), line({{700, 0}, {900, 400}})) == 0);
}

TEST_CASE(
    "tear: the pieces outside a rectangle, in order, whole where the line stays outside beyond a corner of "
    "its own",
    "[inversion]") {
  const physics::mesh::Box box{.y_m = {0, 600}, .z_m = {0, 400}};
  CHECK(pieces_outside(line({{300, 0}, {300, 400}}), box).empty());
  const auto ends = pieces_outside(line({{300, -50}, {300, 200}, {700, 200}, {700, 450}, {500, 450}}), box);
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].length_m == Approx(50.0));
  CHECK(ends[0].to.z_m == Approx(0.0).margin(1e-9));
  CHECK(ends[1].from.y_m == Approx(600.0));
  CHECK(ends[1].to.y_m == Approx(500.0));
  CHECK(ends[1].length_m == Approx(100.0 + 250.0 + 200.0));
  CHECK(pieces_outside(line({{700, 0}, {900, 400}}), box).size() == 1);
  CHECK(pieces_outside(line({{-100, 100}, {700, 300}}), box).size() ==
        2);  // through the box: a piece on either side
  CHECK(pieces_outside(line({{-100, 100}, {100, -100}}), box).size() == 1);  // through its corner alone
}

TEST_CASE("tear: one point, a weight above 1 and points that are not finite are refused", "[inversion]") {
  const auto operator_with = [](const Tear& tear) {
    inversion::prior::RoughnessOptions options;
    options.tears = {tear};
    return roughness_operator(six_by_four(), options);
  };
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(operator_with(line({{0, 0}})));
             }),
             tests::HasId("too_few_points", {"1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(operator_with(line({{0, 0}, {1, 1}}, 1.5)));
             }),
             tests::HasId("wrong_weight", {"1.5"}));
  CHECK_THROWS_AS(operator_with(line({{0, 0}, {1, 1.0 / 0.0}})), core::InvalidArgument);
}

TEST_CASE("free cells: the roughness is that of the whole model with the other cells at the reference",
          "[inversion]") {
  const TensorGrid grid = six_by_four();
  const std::vector<Eigen::Index> free{0, 1, 2, 5, 8, 13, 14, 23};
  const Eigen::VectorXd values = tests::random_matrix(8, 1, 3).col(0);
  Eigen::VectorXd whole = Eigen::VectorXd::Zero(grid.n_cells());
  whole(free) = values;
  const auto first = roughness_operator(grid, {});
  CHECK((of_free_cells(first, free) * values).norm() == Approx((first * whole).norm()));
  const auto second = of_free_cells(roughness_operator(grid, {.order = 2}), free);
  CHECK(second.rows() == 8);
  CHECK((second * values).isApprox((roughness_operator(grid, {.order = 2}) * whole)(free).eval()));
}

TEST_CASE("further unknowns: their own rows alone weigh them", "[inversion]") {
  const auto first = roughness_operator(six_by_four(), {});
  const auto wider = with_further_unknowns(first, Eigen::Vector2d(0.5, 2.0));
  CHECK(wider.rows() == first.rows() + 2);
  Eigen::VectorXd x = tests::random_matrix(26, 1, 4).col(0);
  CHECK((wider * x).squaredNorm() ==
        Approx((first * x.head(24)).squaredNorm() + 0.25 * x[24] * x[24] + 4.0 * x[25] * x[25]));
}

TEST_CASE("areas: a jump at their border costs the weight of the pair, one inside an area as much as before",
          "[inversion]") {
  const TensorGrid grid = six_by_four();
  for (const int order : {1, 2}) {
    inversion::prior::RoughnessOptions options{.order = order, .smallness_length_m = 1e9};
    const double without = cost(grid, step(grid), options);
    const auto area_of = [&](Eigen::Index n_left, int right) {
      std::vector<int> areas;
      for (Eigen::Index i = 0; i < grid.n_cells(); ++i) areas.push_back(i % grid.n_y() < n_left ? 1 : right);
      return areas;
    };
    options.areas = {area_of(3, 9), {{9, 1, 0.0}, {2, 1, 0.25}}};
    CHECK(cost(grid, step(grid), options) < 1e-9 * without);
    options.areas.of_cell = area_of(3, 2);
    CHECK(cost(grid, step(grid), options) == Approx((order == 1 ? 0.25 : 0.0625) * without));
    options.areas.of_cell = area_of(3, 5);  // no pair names it
    CHECK(cost(grid, step(grid), options) == Approx(without));
    if (order == 1) {
      options.areas.of_cell = area_of(2, 9);  // the jump is inside the sea
      CHECK(cost(grid, step(grid), options) == Approx(without));
    }
  }
  inversion::prior::RoughnessOptions options;
  options.areas.of_cell = {1, 2};
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { static_cast<void>(roughness_operator(grid, options)); }),
             tests::HasId("wrong_areas", {"24", "2"}));
}
