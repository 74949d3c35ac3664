// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/slice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

#include <cmath>
#include <map>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

double area_of(const std::vector<Flat>& corners) {
  double twice = 0.0;
  for (std::size_t i = 2; i < corners.size(); ++i) twice += turn(corners[0], corners[i - 1], corners[i]);
  return 0.5 * std::abs(twice);
}

/// Returns the area of the pieces by cell.
std::map<Eigen::Index, double> areas_of(const Slice& slice) {
  std::map<Eigen::Index, double> areas;
  for (const SlicePiece& piece : slice.pieces) areas[piece.cell] += area_of(piece.corners);
  return areas;
}

}  // namespace

TEST_CASE("slice: a section has a piece per cell, from the upper left around, with its sites", "[mesh]") {
  const Earth earth = tests::coast_section(DepthReference::surface);
  const Slice whole =
      slice(earth, WholeSection{}, {{"near", {3, 40, 0}}, {"far", {500, 0, 0}}, {"out", {0, 999, 0}}}, 100.0);
  REQUIRE(whole.pieces.size() == 20);
  const std::vector<Flat> first{{-250, -220}, {-150, -195}, {-150, -135}, {-250, -160}};
  CHECK(whole.pieces[0].corners == first);
  CHECK(whole.pieces[7].cell == 7);
  REQUIRE(whole.sites.size() == 1);
  CHECK(whole.sites[0].name == "near");
  CHECK((whole.sites[0].at == Flat{40, 20} && whole.sites[0].distance_m == 3.0));
  CHECK(whole.surface.size() == 6 + 2);
  CHECK(whole.surface[1] == Flat{-200, -100});
}

TEST_CASE("slice: a level section leaves out cells above the surface, and water closes at the coast",
          "[mesh]") {
  const Slice cut = slice(tests::coast_section(DepthReference::datum));
  CHECK(areas_of(cut).count(1 * 5 + 4) == 0);
  REQUIRE(cut.water.size() == 1);
  CHECK(area_of(cut.water[0]) == Approx(0.5 * 200.0 * 100.0 + 50.0 * 100.0));
}

TEST_CASE("slice: layers are a curve over z", "[mesh]") {
  const Slice curve = slice(tests::small_layers());
  REQUIRE(curve.pieces.size() == 3);
  CHECK(curve.pieces[2].corners == std::vector<Flat>{{0, 30}, {0, 70}});
}

TEST_CASE("slice: a vertical cut through a prism meets its cells over the length of the crossing", "[mesh]") {
  const Earth earth = tests::small_volume(DepthReference::surface);
  const Slice along_y = slice(earth, VerticalCut{{15, 0, 0}, {15, 30, 0}});
  CHECK(along_y.pieces.size() == 6);
  CHECK(along_y.pieces[1].cell == earth.grid.index(0, 1, 1));
  for (const auto& [cell, area] : areas_of(along_y)) CHECK(area == Approx(50.0));
  CHECK(slice(earth, VerticalCut{{15, 2, 0}, {15, 12, 0}}).pieces.size() == 4);
  // From corner to corner, 36 m long: x = 10 m is passed at y = 15 m.
  const Slice oblique = slice(earth, VerticalCut{{0, 0, 0}, {20, 30, 0}});
  const auto areas = areas_of(oblique);
  const double length_m = std::hypot(20.0, 30.0);
  CHECK(areas.at(earth.grid.index(0, 0, 0)) == Approx(5.0 * length_m / 3.0));
  CHECK(areas.at(earth.grid.index(0, 1, 0)) == Approx(5.0 * length_m / 6.0));
  CHECK(areas.at(earth.grid.index(0, 1, 1)) == Approx(5.0 * length_m / 6.0));
  CHECK(areas.count(earth.grid.index(0, 0, 1)) == 0);
  CHECK(oblique.surface.back().v_m == Approx(3.0));
  const Slice beyond = slice(earth, VerticalCut{{15, -100, 0}, {15, 100, 0}}, {{"a", {13, 20, 0}}});
  CHECK(beyond.pieces.size() == 6);
  CHECK((beyond.sites.at(0).at.u_m == 120.0 && beyond.sites[0].distance_m == 2.0));
}

TEST_CASE("slice: a horizontal cut is a map with the cells of one layer, and water above the floor",
          "[mesh]") {
  Earth earth = tests::small_volume(DepthReference::surface);
  const Slice draped = slice(earth, HorizontalCut{6.0}, {{"a", {3, 4, 0}}});
  CHECK(draped.pieces.size() == 6);
  CHECK(draped.pieces[0].cell == earth.grid.index(1, 0, 0));
  CHECK(draped.pieces[0].corners[0] == Flat{0, 10});
  CHECK(draped.sites.at(0).at == Flat{4, 3});
  earth = tests::small_volume(DepthReference::datum);
  earth.sea = Sea{-1.0, 0.3};
  const Slice level =
      slice(earth, HorizontalCut{0.5});  // the surface under the columns: −1, 0, 1 and 0, 1, 2 m
  CHECK(level.pieces.size() == 3);
  CHECK(level.water.size() == 3);
  CHECK(slice(earth, HorizontalCut{11.0}).pieces.empty());
}

TEST_CASE("slice: cuts that do not fit the dimension or have no length are refused", "[mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(slice(tests::small_volume(DepthReference::datum))); }),
             tests::HasId("is_a_volume"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(slice(tests::small_layers(), HorizontalCut{})); }),
             tests::HasId("not_a_volume", {"1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(slice(tests::small_layers(), VerticalCut{})); }),
             tests::HasId("no_length", {"0 m"}));
}
