// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "physics/mesh/shapes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

Polygon polygon_of(const std::vector<Flat>& corners, std::string_view what = "polygon") {
  return Polygon(points(corners), Plane::section, what);
}

Box rectangle(double y_min_m, double y_max_m, double z_min_m, double z_max_m) {
  return {.y_m = {y_min_m, y_max_m}, .z_m = {z_min_m, z_max_m}};
}

/// Returns a square with a notch cut from above: not convex.
Polygon notched() { return polygon_of({{0, 0}, {4, 0}, {4, 4}, {3, 4}, {3, 1}, {1, 1}, {1, 4}, {0, 4}}); }

Polygon circle(double radius_m, int n) {
  std::vector<Flat> corners;
  for (int i = 0; i < n; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / n;
    corners.push_back({100.0 + radius_m * std::cos(angle), 500.0 + radius_m * std::sin(angle)});
  }
  return polygon_of(corners);
}

}  // namespace

TEST_CASE("polygon: a notch is outside, the arms beside it are inside", "[physics][mesh]") {
  const Polygon polygon = notched();
  CHECK(polygon.contains(point({0.5, 3.0})));
  CHECK(polygon.contains(point({3.5, 3.0})));
  CHECK(polygon.contains(point({2.0, 0.5})));
  CHECK_FALSE(polygon.contains(point({2.0, 2.0})));
  CHECK_FALSE(polygon.contains(point({-1.0, 0.5})));
  CHECK_FALSE(polygon.contains(point({5.0, 1.0})));
}

TEST_CASE("polygon: a point on an edge two polygons share is in exactly one of them", "[physics][mesh]") {
  const Polygon left = polygon_of({{0, 0}, {3, 0}, {1, 7}, {0, 7}}),
                right = polygon_of({{1, 7}, {3, 0}, {9, 0}, {9, 7}});
  for (int i = 0; i < 7; ++i) {
    const Point on_edge = point({3.0 - 2.0 * i / 7.0, static_cast<double>(i)});
    CHECK(left.contains(on_edge) != right.contains(on_edge));
  }
}

TEST_CASE("polygon: the area has the sign of the rotation and does not depend on the origin",
          "[physics][mesh]") {
  CHECK(polygon_of({{0, 0}, {2, 0}, {2, 3}, {0, 3}}).signed_area_m2() == Approx(6.0));
  CHECK(polygon_of({{0, 3}, {2, 3}, {2, 0}, {0, 0}}).signed_area_m2() == Approx(-6.0));
  CHECK(notched().signed_area_m2() == Approx(10.0));
  CHECK(polygon_of({{1e9, 0}, {1e9 + 2, 0}, {1e9 + 2, 3}, {1e9, 3}}).signed_area_m2() ==
        Approx(6.0).epsilon(1e-12));
}

TEST_CASE("polygon: shares of the cells of a grid add up to the polygon's area", "[physics][mesh]") {
  const Polygon polygon = circle(50.0, 40);
  double area = 0.0;
  for (int iy = 0; iy < 13; ++iy) {
    for (int iz = 0; iz < 11; ++iz)
      area += 10.0 * 11.0 *
              polygon.clip_area_fraction(
                  rectangle(40.0 + 10.0 * iy, 50.0 + 10.0 * iy, 440.0 + 11.0 * iz, 451.0 + 11.0 * iz));
  }
  CHECK(area == Approx(polygon.signed_area_m2()).epsilon(1e-12));
  CHECK(polygon.clip_area_fraction(rectangle(95, 105, 495, 505)) == 1.0);
  CHECK(polygon.clip_area_fraction(rectangle(0, 10, 0, 10)) == 0.0);
}

TEST_CASE("polygon: the share of a rectangle is right across a notch", "[physics][mesh]") {
  CHECK(notched().clip_area_fraction(rectangle(0, 4, 2, 4)) == Approx(0.5));
  CHECK(notched().clip_area_fraction(rectangle(1, 3, 0, 2)) == Approx(0.5));
  CHECK(notched().clip_area_fraction(rectangle(1.5, 2.5, 2, 3)) == 0.0);
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(notched().clip_area_fraction(rectangle(1, 1, 0, 2))); }),
             tests::HasId("no_area"));
}

TEST_CASE("polygon: membership and share agree on random small cells", "[physics][mesh]") {
  const Polygon polygon = notched();
  const core::Philox random(7);
  int n_inside = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const double y = -1.0 + 6.0 * random.uniform(2 * i), z = -1.0 + 6.0 * random.uniform(2 * i + 1);
    const double share = polygon.clip_area_fraction(rectangle(y - 1e-6, y + 1e-6, z - 1e-6, z + 1e-6));
    CHECK(share == (polygon.contains(point({y, z})) ? Approx(1.0) : Approx(0.0).margin(1e-9)));
    n_inside += polygon.contains(point({y, z})) ? 1 : 0;
  }
  CHECK(n_inside > 60);
  CHECK(n_inside < 160);
}

TEST_CASE("polygon: one that crosses itself is refused with the edges that cross", "[physics][mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {4, 4}, {4, 0}, {0, 4}}, "fixed region 2"));
             }),
             tests::HasId("edges_cross", {"fixed region 2", "1–2", "3–4"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {4, 0}, {4, 4}, {2, 0}, {0, 4}}));
             }),
             tests::HasId("edges_cross", {"1–2"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {4, 0}, {2, 0}, {2, 3}}));
             }),
             tests::HasId("edges_cross"));
  CHECK_NOTHROW(polygon_of({{0, 0}, {2, 0}, {4, 0}, {4, 4}}));
}

TEST_CASE("polygon: too few, repeated, infinite or aligned corners are refused", "[physics][mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {1, 1}}));
             }),
             tests::HasId("too_few_corners", {"2"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {1, 0}, {1, 1}, {0, 0}}));
             }),
             tests::HasId("repeated_corner", {"4", "1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(polygon_of({{0, 0}, {1, std::numeric_limits<double>::quiet_NaN()}, {1, 1}}));
             }),
             tests::HasId("corner_not_finite", {"corner 2"}));
  CHECK_THROWS_AS(polygon_of({{0, 0}, {1, 1}, {2, 2}}), core::InvalidArgument);
}

TEST_CASE("segments: those that cross or touch meet, those that pass do not", "[physics][mesh]") {
  CHECK(segments_meet({{{0, 0}, {2, 2}}}, {{{0, 2}, {2, 0}}}));
  CHECK(segments_meet({{{0, 0}, {2, 0}}}, {{{1, 0}, {1, 5}}}));
  CHECK(segments_meet({{{0, 0}, {2, 0}}}, {{{1, 0}, {5, 0}}}));
  CHECK_FALSE(segments_meet({{{0, 0}, {2, 0}}}, {{{3, 0}, {5, 0}}}));
  CHECK_FALSE(segments_meet({{{0, 0}, {2, 2}}}, {{{3, 3.5}, {3, 0}}}));
}
