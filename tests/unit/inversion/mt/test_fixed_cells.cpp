// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/start_models.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <utility>

using namespace lodestone;
using namespace lodestone::inversion::mt;
using physics::mesh::Flat;
using physics::mesh::TensorGrid;

namespace {

/// 3 columns × 2 rows.
const TensorGrid grid = TensorGrid::section({0, 100, 200, 300}, {0, 100, 300});
const physics::mesh::Cells cells = physics::mesh::cells(grid);

/// Returns 100 ohm m, reference 10 ohm m.
StartModels small_models() { return {Eigen::VectorXd::Constant(6, 2.0), Eigen::VectorXd::Constant(6, 1.0)}; }

physics::mesh::Polygon polygon_of(const std::vector<Flat>& corners) {
  return physics::mesh::Polygon(physics::mesh::points(corners));
}

TearLine tear_along(const std::vector<Flat>& places) {
  return {physics::mesh::Tear{physics::mesh::points(places)}, "c.toml:9: regularization.tear[0].y_m"};
}

FixedRegion upper_left(std::optional<double> resistivity = {}) {
  return {polygon_of({{0, 0}, {100, 0}, {100, 100}, {0, 100}}), resistivity,
          "c.toml:7: regularization.fixed[0]"};
}

}  // namespace

TEST_CASE(
    "fixed regions: cells with their centre inside take the reference or the given resistivity and are no "
    "unknowns",
    "[inversion]") {
  StartModels models = small_models();
  CHECK(hold_cells({}, {}, cells, models).size() == 6);
  CHECK(hold_cells({upper_left()}, {}, cells, models) == std::vector<Eigen::Index>{1, 2, 3, 4, 5});
  CHECK(models.start[0] == 1.0);
  CHECK(hold_cells({upper_left(1000.0)}, {}, cells, models).size() == 5);
  CHECK(models.start[0] == Approx(3.0));
  CHECK(models.reference[0] == Approx(3.0));
  CHECK(models.start[1] == 2.0);
}

TEST_CASE("fixed regions: in a volume a box and prisms in section and in plan hold cells at every x",
          "[inversion]") {
  using physics::mesh::Plane;
  using physics::mesh::Polygon;
  const auto volume = physics::mesh::cells(
      TensorGrid(physics::mesh::Edges{{0, 100, 200}, {0, 100, 200, 300}, {0, 100, 300}}));
  const auto n_free = [&](const physics::mesh::Shape& shape) {
    StartModels models{Eigen::VectorXd::Constant(12, 2.0), Eigen::VectorXd::Constant(12, 1.0)};
    const auto free_cells = hold_cells({{shape, 1000.0, "c.toml:7"}}, {}, volume, models);
    CHECK((models.start.array() > 2.5).count() == 12 - std::ssize(free_cells));
    return free_cells.size();
  };
  CHECK(n_free(Polygon(physics::mesh::points({{0, 0}, {100, 0}, {100, 100}, {0, 100}}))) == 10);
  CHECK(n_free(Polygon(physics::mesh::points({{100, 0}, {200, 0}, {200, 200}, {100, 200}}, Plane::plan),
                       Plane::plan)) == 8);
  CHECK(n_free(physics::mesh::Box{.x_m = {100, 200}, .z_m = {100, 300}}) == 9);
  StartModels models{Eigen::VectorXd::Zero(12), Eigen::VectorXd::Zero(12)};
  const auto error = tests::error_of<core::ConfigError>([&] {
    static_cast<void>(
        hold_cells({{physics::mesh::Box{.x_m = {900, 950}}, {}, "c.toml:7"}}, {}, volume, models));
  });
  CHECK_THAT(error, tests::HasId("no_cell_inside", {"x 0 … 200 m", "y 0 … 300 m"}));
}

TEST_CASE("fixed regions: depths limit what an outline in plan holds", "[inversion]") {
  using physics::mesh::Plane;
  const auto volume = physics::mesh::cells(
      TensorGrid(physics::mesh::Edges{{0, 100, 200}, {0, 100, 200, 300}, {0, 100, 300}}));
  StartModels models{Eigen::VectorXd::Zero(12), Eigen::VectorXd::Ones(12)};
  const physics::mesh::Polygon column(
      physics::mesh::points({{100, 0}, {200, 0}, {200, 200}, {100, 200}}, Plane::plan), Plane::plan);
  const auto free_cells = hold_cells({{column, {}, "c.toml:7", {100.0, 300.0}}}, {}, volume, models);
  CHECK(free_cells == std::vector<Eigen::Index>{0, 1, 2, 3, 4, 5, 6, 8, 10, 11});
  CHECK(models.start[7] == 1.0);
  CHECK(models.start[1] == 0.0);
}

TEST_CASE("areas: cells of held areas keep the reference, areas of another grid are refused", "[inversion]") {
  StartModels models = small_models();
  const CellAreas areas{.shape = {2, 3, 1}, .areas = {.of_cell = {9, 1, 1, 9, 2, 0}}, .held = {0, 9}};
  CHECK(hold_cells({}, areas, cells, models) == std::vector<Eigen::Index>{1, 2, 4});
  CHECK(models.start[3] == 1.0);
  CHECK(models.start[4] == 2.0);
  CellAreas other = areas;
  other.shape = {2, 4, 1};
  other.place = "c.toml:3: regularization.modem_covariance_file";
  const auto error =
      tests::error_of<core::ConfigError>([&] { static_cast<void>(hold_cells({}, other, cells, models)); });
  CHECK_THAT(error, tests::HasId("areas_of_another_grid", {"c.toml:3", "1 × 3 × 2", "1 × 4 × 2"}));
}

TEST_CASE(
    "fixed regions and tears: those that miss the grid, and regions that leave nothing, are refused with "
    "their place",
    "[inversion]") {
  StartModels models = small_models();
  const auto refusal = [&](const std::vector<Flat>& corners) {
    return tests::error_of<core::ConfigError>([&] {
      static_cast<void>(hold_cells({{polygon_of(corners), {}, "c.toml:7"}}, {}, cells, models));
    });
  };
  CHECK_THAT(refusal({{900, 0}, {950, 0}, {900, 50}}), tests::HasId("no_cell_inside", {"c.toml:7"}));
  CHECK_THAT(refusal({{-1, -1}, {301, -1}, {301, 301}, {-1, 301}}),
             tests::HasId("no_free_cell", {"c.toml:7"}));
  const TearLine outside = tear_along({{900, 0}, {900, 400}});
  const auto error = tests::error_of<core::ConfigError>([&] { check_tears({outside}, {grid}); });
  CHECK_THAT(error, tests::HasId("no_face_crossed", {"c.toml:9", "y 0 … 300 m"}));
}

TEST_CASE(
    "tears: a part outside the grid is named in a warning, above the top of a grid on the datum the ground "
    "counts as inside",
    "[inversion]") {
  const auto warned = [](const TearLine& tear, const physics::mesh::Earth& of) {
    tests::Capture err(STDERR_FILENO);
    check_tears({tear}, of);
    return err.text();
  };
  const TearLine tear = tear_along({{100, -60}, {100, 300}, {400, 300}});
  CHECK_THAT(warned(tear, {grid}),
             Catch::Contains("c.toml:9: regularization.tear[0].y_m") &&
                 Catch::Contains("60 m from y = 100 m, z = -60 m to y = 100 m, z = 0 m; 100 m from") &&
                 Catch::Contains("the grid spans y 0 … 300 m"));
  const TearLine shorter = tear_along({{100, -60}, {100, 300}});
  const TensorGrid on_datum =
      TensorGrid::section({0, 100, 200, 300}, {0, 100, 300}, physics::mesh::DepthReference::datum);
  CHECK(warned(shorter, {on_datum, physics::mesh::SurfaceLine({0, 100}, {0, -80})}).empty());
  CHECK_FALSE(warned(shorter, {on_datum}).empty());
}

TEST_CASE("tears: of a curtain in a volume the warning names the part outside in plan", "[inversion]") {
  const physics::mesh::Earth volume{
      TensorGrid(physics::mesh::Edges{{0, 100, 200}, {0, 100, 200, 300}, {0, 100, 300}})};
  using physics::mesh::Plane;
  const physics::mesh::Tear curtain{.points = physics::mesh::points({{-50, 110}, {200, 110}}, Plane::plan),
                                    .plane = Plane::plan};
  tests::Capture err(STDERR_FILENO);
  check_tears({{curtain, "c.toml:9"}}, volume);
  CHECK_THAT(err.text(), Catch::Contains("50 m from x = -50 m, y = 110 m to x = 0 m, y = 110 m") &&
                             Catch::Contains("the grid spans x 0 … 200 m and y 0 … 300 m and depths"));
}
