// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/fem/graded_lines.hpp"
#include "physics/fem/quad_mesh.hpp"
#include "physics/mesh/earth.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::physics::mesh;

TEST_CASE("surface: interpolates between its points and is level beyond them", "[physics][mesh]") {
  const SurfaceLine surface({0.0, 100.0, 300.0}, {0.0, -50.0, -50.0});
  CHECK(surface.z_at(50.0) == Approx(-25.0));
  CHECK(surface.z_at(-10.0) == 0.0);
  CHECK(surface.z_at(1e6) == -50.0);
  CHECK(surface.slope_at(10.0) == Approx(-0.5));
  CHECK(surface.slope_at(200.0) == 0.0);
  CHECK_FALSE(surface.is_flat());
  CHECK(SurfaceLine(3.0).is_flat());
}

TEST_CASE("surface: points that turn back are refused with their position", "[physics][mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(SurfaceLine({0.0, 100.0, 90.0}, {0.0, 0.0, 0.0}));
             }),
             tests::HasId("not_increasing", {"point 2", "90 m"}));
  CHECK_THROWS_AS(SurfaceLine({0.0, 1.0}, {0.0}), core::ShapeError);
}

TEST_CASE("grid: cells are found by position, outermost cells go on without end", "[physics][mesh]") {
  const TensorGrid grid = TensorGrid::section({0.0, 10.0, 30.0}, {0.0, 1.0, 5.0, 9.0});
  CHECK(grid.n_cells() == 6);
  CHECK(grid.index(2, 1) == 5);
  CHECK(grid.column_of(-5.0) == 0);
  CHECK(grid.column_of(10.0) == 1);
  CHECK(grid.column_of(99.0) == 1);
  CHECK(grid.row_of(4.9) == 1);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(TensorGrid::section({0.0, 0.0}, {0.0, 1.0}));
             }),
             tests::HasId("not_increasing", {"y"}));
}

TEST_CASE("grid: geometric edges grow by their factor", "[physics][mesh]") {
  const auto edges = geometric_edges_m(2.0, 1.5, 3);
  REQUIRE(edges.size() == 4);
  CHECK(edges[1] == Approx(2.0));
  CHECK(edges[3] == Approx(2.0 + 3.0 + 4.5));
  CHECK_THROWS_AS(geometric_edges_m(-1.0, 1.2, 3), core::InvalidArgument);
}

TEST_CASE("graded lines: cells are small at the feature and neighbours differ by the slope",
          "[physics][mesh]") {
  const auto lines = physics::fem::graded_lines(-1e4, 1e4, {}, {{0.0, 10.0}},
                                                {.slope = 0.2, .far_slope = 0.2, .near_m = 1e9});
  CHECK(lines.front() == -1e4);
  CHECK(lines.back() == 1e4);
  double smallest = 1e300;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const double left = lines[i] - lines[i - 1], right = lines[i + 1] - lines[i];
    smallest = std::min(smallest, left);
    CHECK(std::max(left, right) / std::min(left, right) < 1.35);
  }
  CHECK(smallest > 5.0);
  CHECK(smallest < 12.0);
}

TEST_CASE("graded lines: pass through anchors, but not through two that are far closer than the cells",
          "[physics][mesh]") {
  const auto lines = physics::fem::graded_lines(0.0, 1000.0, {333.0, 500.0, 501.0}, {{0.0, 50.0}},
                                                {.slope = 0.0, .far_slope = 0.0});
  CHECK(std::count(lines.begin(), lines.end(), 333.0) == 1);
  CHECK(std::count(lines.begin(), lines.end(), 500.0) == 1);
  CHECK(std::count(lines.begin(), lines.end(), 501.0) == 0);
  CHECK_THROWS_AS(physics::fem::graded_lines(0.0, 1.0, {}, {}, {}), core::InvalidArgument);
}

TEST_CASE("graded lines: kept lines stay however close they are, and anchors beside them give way",
          "[physics][mesh]") {
  const auto lines =
      physics::fem::graded_lines(0.0, 1000.0, {333.0, 505.0}, {{0.0, 50.0}},
                                 {.slope = 0.0, .far_slope = 0.0, .kept_m = {501.0, -5.0, 500.0, 1000.0}});
  for (const double kept : {333.0, 500.0, 501.0}) CHECK(std::count(lines.begin(), lines.end(), kept) == 1);
  CHECK(std::count(lines.begin(), lines.end(), 505.0) == 0);
  CHECK(lines.front() == 0.0);
  CHECK(lines.back() == 1000.0);
  CHECK(std::is_sorted(lines.begin(), lines.end()));
}

TEST_CASE("graded lines: every second of even lines keeps the anchors between larger cells",
          "[physics][mesh]") {
  const std::vector<double> anchors{333.0, 500.0, 820.0};
  const auto lines = physics::fem::graded_lines(0.0, 1000.0, anchors, {{0.0, 34.0}},
                                                {.slope = 0.0, .far_slope = 0.0, .even = true});
  for (const double anchor : anchors) {
    const auto found = std::find(lines.begin(), lines.end(), anchor);
    REQUIRE(found != lines.end());
    CHECK((found - lines.begin()) % 2 == 0);
  }
  CHECK(lines.size() % 2 == 1);
}

TEST_CASE("quadrilateral mesh: refinement cuts every cell in four and keeps the corners", "[physics][mesh]") {
  const physics::fem::QuadMesh mesh({0.0, 2.0, 6.0}, {{-4.0, 0.0, 1.0}, {-4.0, -1.0, 1.0}, {-4.0, 0.0, 1.0}},
                                    1);
  const auto fine = mesh.refined();
  CHECK(fine.n_y() == 4);
  CHECK(fine.n_z() == 4);
  CHECK(fine.n_air() == 2);
  CHECK(fine.z(2, 2) == mesh.z(1, 1));
  CHECK(fine.z(2, 1) == Approx(-0.5));
  CHECK(fine.column_of(2.5) == 2);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(physics::fem::QuadMesh({0.0, 1.0}, {{0.0, 1.0}, {1.0, 0.0}}, 0));
             }),
             tests::HasId("not_increasing", {"line 1"}));
}
