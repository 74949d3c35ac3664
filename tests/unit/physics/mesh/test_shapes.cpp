// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/shapes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::physics::mesh;

TEST_CASE("box: an axis that is not named has no bounds", "[mesh]") {
  const Box box{.y_m = {1.0, 2.0}};
  CHECK(box.contains({1e9, 1.5, -1e9}));
  CHECK(box.contains({0.0, 2.0, 0.0}));
  CHECK_FALSE(box.contains({0.0, 2.5, 0.0}));
}

TEST_CASE("polygon: in section it reaches along x, in plan along z without end", "[mesh]") {
  const std::vector<Point> triangle_yz{{9, 0, 0}, {9, 4, 0}, {9, 0, 4}},
      triangle_xy{{0, 0, 9}, {4, 0, 9}, {0, 4, 9}};
  const Shape section = Polygon(triangle_yz), plan = Polygon(triangle_xy, Plane::plan);
  CHECK(contains(section, {-50, 1, 1}));
  CHECK_FALSE(contains(section, {9, 3, 3}));
  CHECK(contains(plan, {1, 1, -50}));
  CHECK_FALSE(contains(plan, {3, 3, 9}));
  CHECK(Polygon(triangle_xy, Plane::plan).signed_area_m2() == Approx(8.0));
  CHECK(Polygon(triangle_xy, Plane::plan).bounding_box() == Box{.x_m = {0, 4}, .y_m = {0, 4}});
  const Polygon slender({{0, 0, 9}, {4, 0, 9}, {0, 8, 9}}, Plane::plan);
  CHECK(slender.clip_area_fraction({.x_m = {0, 4}, .y_m = {0, 2}}) == Approx(0.875));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(Polygon(triangle_yz).clip_area_fraction({.y_m = {0, 4}}));
             }),
             tests::HasId("no_area"));
}

TEST_CASE("polygon: its faults are named by coordinates of its plane", "[mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(Polygon({{1, 2, 0}, {1, 2, 5}, {3, 3, 0}}, Plane::plan, "region 2"));
             }),
             tests::HasId("repeated_corner", {"region 2", "x = 1 m", "y = 2 m"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(Polygon({{0, 1, 2}, {5, 1, 2}, {0, 3, 3}}));
             }),
             tests::HasId("repeated_corner", {"y = 1 m", "z = 2 m"}));
}

TEST_CASE("points: places of a plane and back", "[mesh]") {
  CHECK(point({3.0, 4.0}) == Point{0.0, 3.0, 4.0});
  CHECK(point({3.0, 4.0}, Plane::plan) == Point{3.0, 4.0, 0.0});
  for (const Plane plane : {Plane::section, Plane::plan}) {
    CHECK(flat(point({1.0, 2.0}, plane), plane) == Flat{1.0, 2.0});
    CHECK(points({{1.0, 2.0}, {5.0, 6.0}}, plane)[1] == point({5.0, 6.0}, plane));
  }
}
