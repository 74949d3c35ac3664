// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/store.hpp"
#include "physics/mesh/frame.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::physics::mesh;

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
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Frame{.bends = {{0, 0, 0}}}));
             }),
             tests::HasId("single_bend"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(check(Frame{.bends = {{0, 0, 0}, {5, 5, 0}, {4, 9, 0}}}));
             }),
             tests::HasId("bend_returns", {"2", "3"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(check(Frame{.azimuth_deg = 1.0 / 0.0})); }),
             tests::HasId("not_finite", {"inf"}));
  CHECK_NOTHROW(check(Frame{}));
}

TEST_CASE("frame: projection, place, azimuth and bends come back from arrays", "[mesh]") {
  core::MemoryArrays arrays;
  const Frame written{.projection = "+proj=utm +zone=33",
                      .origin_north_m = 1000,
                      .origin_east_m = 500,
                      .azimuth_deg = 33.0,
                      .elevation_m = 80,
                      .bends = {{0, 0, 0}, {10, 10, 0}, {20, 10, 10}}};
  write(arrays, written);
  const Frame read = read_frame(arrays);
  CHECK(read.projection == written.projection);
  CHECK(read.elevation_m == 80.0);
  CHECK(on_map(read, {2, 15, 0}) == on_map(written, {2, 15, 0}));
  core::MemoryArrays straight;
  write(straight, Frame{.origin_north_m = 7.0, .azimuth_deg = 33.0});
  CHECK(read_frame(straight).bends.empty());
  CHECK(on_map(read_frame(straight), {2, 15, 0}) ==
        on_map({.origin_north_m = 7.0, .azimuth_deg = 33.0}, {2, 15, 0}));
}
