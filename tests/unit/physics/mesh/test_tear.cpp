// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/tear.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

using namespace lodestone;
using namespace lodestone::physics::mesh;

TEST_CASE("tear: a line in the section is met wherever along x a segment crosses it", "[mesh]") {
  const Tear fault{{{0, 10, -5}, {0, 10, 5}}};
  CHECK(crosses(fault, {99, 5, 0}, {99, 15, 0}));
  CHECK_FALSE(crosses(fault, {99, 5, 6}, {99, 15, 6}));
}

TEST_CASE("tear: a curtain is met within its depths alone, and not by vertical segments", "[mesh]") {
  const Tear curtain{{{0, 10, 0}, {20, 10, 0}}, 0.0, Plane::plan, {0.0, 5.0}};
  CHECK(crosses(curtain, {5, 5, 2.5}, {5, 15, 2.5}));
  CHECK_FALSE(crosses(curtain, {5, 5, 7.5}, {5, 15, 7.5}));
  CHECK_FALSE(crosses(curtain, {25, 5, 2.5}, {25, 15, 2.5}));
  CHECK_FALSE(crosses(curtain, {5, 10, 2.5}, {5, 10, 7.5}));
  CHECK(crosses(curtain, {5, 5, 0}, {5, 15, 9}));         // 4.5 m deep at the curtain
  CHECK_FALSE(crosses(curtain, {5, 5, 0}, {5, 15, 11}));  // 5.5 m deep
  CHECK(crosses(curtain, {5, 10, 2}, {15, 10, 2}));       // along it
}

TEST_CASE("tear: faces that it crosses are counted in two and three dimensions", "[mesh]") {
  const Cells volume = cells(tests::small_volume(DepthReference::surface));
  CHECK(n_faces_crossed(volume, {{{0, 10, 0}, {20, 10, 0}}, 0.0, Plane::plan}) == 4);
  CHECK(n_faces_crossed(volume, {{{0, 10, 0}, {20, 10, 0}}, 0.0, Plane::plan, {0.0, 5.0}}) == 2);
  CHECK(n_faces_crossed(volume, {{{0, 10, -1}, {0, 10, 5.5}}}) == 2);
  const Cells section = cells(tests::coast_section(DepthReference::datum));
  CHECK(n_faces_crossed(section, {{{0, -50, -200}, {0, -50, 200}}}) == 4);
  CHECK(n_faces_crossed(section, {{{0, 300, -200}, {0, 300, 200}}}) == 0);
}

TEST_CASE("tear: the smallest weight counts, and a curtain outside a box is found in plan", "[mesh]") {
  const std::vector<Tear> tears{{{{0, 10, -5}, {0, 10, 5}}, 0.2}, {{{0, 12, -5}, {0, 12, 5}}, 0.5}};
  CHECK(weight_across(tears, {0, 5, 0}, {0, 11, 0}) == 0.2);
  CHECK(weight_across(tears, {0, 5, 0}, {0, 15, 0}) == 0.2);
  CHECK(weight_across(tears, {0, 11, 0}, {0, 15, 0}) == 0.5);
  CHECK(weight_across(tears, {0, 5, 9}, {0, 15, 9}) == 1.0);
  const Tear curtain{{{-10, 10, 0}, {30, 10, 0}}, 0.0, Plane::plan};
  const auto pieces = pieces_outside(curtain, {.x_m = {0, 20}, .y_m = {0, 30}, .z_m = {5, 6}});
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].length_m == Approx(10.0));
  CHECK(pieces[1].from.x_m == Approx(20.0));
}

TEST_CASE("tear: one point, a wrong weight, an infinite place and reversed depths are refused", "[mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Tear{{{0, 0, 0}}}));
             }),
             tests::HasId("too_few_points", {"1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Tear{{{0, 0, 0}, {0, 1, 1}}, 1.5}));
             }),
             tests::HasId("wrong_weight", {"1.5"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Tear{{{0, 0, 0}, {1.0 / 0.0, 1, 1}}, 0.0, Plane::plan}));
             }),
             tests::HasId("point_not_finite", {"x = inf m"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Tear{{{0, 0, 0}, {1, 1, 0}}, 0.0, Plane::plan, {5, 5}}));
             }),
             tests::HasId("depths_not_increasing", {"5 m"}));
}
