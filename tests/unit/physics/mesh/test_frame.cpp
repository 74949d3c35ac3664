// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/frame.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::physics::mesh;
using Catch::Matchers::Contains;

namespace {

void check_place(const MapPlace& place, double east_m, double north_m, double elevation_m) {
  CHECK(place.east_m == Approx(east_m).margin(1e-9));
  CHECK(place.north_m == Approx(north_m).margin(1e-9));
  CHECK(place.elevation_m == Approx(elevation_m));
}

void check_return(const Frame& frame, const Point& point) {
  const Point back = from_map(frame, on_map(frame, point));
  for (const Axis axis : all_axes) CHECK(back[axis] == Approx(point[axis]).margin(1e-9));
}

}  // namespace

TEST_CASE("frame: azimuth 90° is x north and y east, and a profile turns both", "[mesh]") {
  const Frame map{.origin_north_m = 1000, .origin_east_m = 500, .elevation_m = 80};
  check_place(on_map(map, {3, 4, 5}), 504, 1003, 75);
  const Frame northward{.azimuth_deg = 0.0};  // x to the west
  check_place(on_map(northward, {3, 4, 0}), -3, 4, 0);
  check_return(map, {3, 4, 5});
  check_return({.azimuth_deg = 33.0, .elevation_m = 7.0}, {-3, 14, 5});
}

TEST_CASE("frame: along bends y follows the line and x stands off it", "[mesh]") {
  const Frame frame{.bends = {{0, 0, 0}, {10, 10, 0}, {20, 10, 10}}};  // north, then east
  check_place(on_map(frame, {0, 5, 0}), 0, 5, 0);
  check_place(on_map(frame, {0, 25, 0}), 15, 10, 0);
  check_place(on_map(frame, {2, 15, 0}), 5, 12, 0);
  check_return(frame, {2, 15, 1});
  check_return(frame, {-1, -7, 1});
  check_return(frame, {1, 33, 1});
}

TEST_CASE("frame: a single bend, one that returns, and infinite numbers are refused", "[mesh]") {
  CHECK_THROWS_WITH(check(Frame{.bends = {{0, 0, 0}}}), Contains("at least two"));
  CHECK_THROWS_WITH(check(Frame{.bends = {{0, 0, 0}, {5, 5, 0}, {4, 9, 0}}}), Contains("bends 2 and 3"));
  CHECK_THROWS_WITH(check(Frame{.azimuth_deg = 1.0 / 0.0}), Contains("inf"));
  CHECK_NOTHROW(check(Frame{}));
}
