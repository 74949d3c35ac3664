// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;

TEST_CASE("profile: the best line has the azimuth of collinear stations, from 0 to 180 degrees",
          "[profile]") {
  const auto line = [](double azimuth_deg) {
    const double azimuth = azimuth_deg / deg_per_rad;
    std::vector<PlanePoint> points;
    for (const double d : {0.0, 10e3, 25e3, 40e3})
      points.push_back({5e3 + d * std::cos(azimuth), -2e3 + d * std::sin(azimuth)});
    return points;
  };
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (const double azimuth_deg : {329.5, 149.5}) {  // in either order of the stations
    const auto profile = make_profile(names, line(azimuth_deg), {});
    CHECK(profile.azimuth_deg == Approx(149.5).margin(1e-9));
    CHECK(profile.offset_m[2] == Approx(0.0).margin(1e-6));
    const std::size_t first = azimuth_deg > 180.0 ? 3 : 0;
    CHECK(profile.y_m[first] == Approx(0.0).margin(1e-6));
    CHECK(profile.y_m[3 - first] == Approx(40e3));
  }
  const auto profile = make_profile(names, line(149.5), {});
  CHECK(profile.origin.north_m == Approx(5e3));
  CHECK(profile.origin.east_m == Approx(-2e3));
  for (const double azimuth_deg : {0.0, 180.0, 180.0 - 1e-9})
    CHECK(make_profile(names, line(azimuth_deg), {}).azimuth_deg == Approx(0.0).margin(1e-6));
  CHECK(make_profile(names, line(270.0), {}).azimuth_deg == Approx(90.0));
  CHECK(make_profile(names, line(329.5), {.azimuth_deg = 329.5}).azimuth_deg == 329.5);  // as stated
}

TEST_CASE(
    "profile: x points along azimuth minus 90 degrees, so that a station north of an eastward line has a "
    "positive offset",
    "[profile]") {
  const auto profile = make_profile({"a", "b", "c"}, {{0, 0}, {0, 1000}, {-30, 500}},
                                    {.azimuth_deg = 90.0, .origin = {}, .distance = {}});
  CHECK(profile.y_m[1] == Approx(1000));
  CHECK(profile.offset_m[2] == Approx(-20.0));
  const auto north_of = make_profile({"a", "b", "c"}, {{0, 0}, {0, 1000}, {30, 500}},
                                     {.azimuth_deg = 90.0, .origin = {}, .distance = {}});
  CHECK(north_of.offset_m[2] == Approx(20.0));  // azimuth 0 is +x: north
}

TEST_CASE("profile: y counts from the origin station and running sums are at least as long as projections",
          "[profile]") {
  const std::vector<PlanePoint> points{{0, 0}, {300, 1000}, {-300, 2000}};
  const auto projected = make_profile({"a", "b", "c"}, points,
                                      {.azimuth_deg = 90.0, .origin = "b", .distance = Distance::projected});
  CHECK(projected.y_m == std::vector<double>{-1000, 0, 1000});
  const auto summed = make_profile({"a", "b", "c"}, points,
                                   {.azimuth_deg = 90.0, .origin = "a", .distance = Distance::running_sum});
  CHECK(summed.y_m[2] == Approx(std::hypot(300, 1000) + std::hypot(600, 1000)));
}

TEST_CASE(
    "profile: an unknown origin and a line of one place are errors that name them, coincident stations are "
    "not",
    "[profile]") {
  const auto one_place = [] { (void)make_profile({"a", "b"}, {{0, 0}, {0.2, 0}}, {}); };
  CHECK_THAT(tests::error_of<core::InvalidArgument>(one_place), tests::HasId("one_place", {"a", "1"}));
  const auto bands = make_profile({"a", "a_long", "b"}, {{0, 0}, {0.2, 0}, {1000, 0}}, {});
  CHECK(bands.y_m[1] == Approx(0.2));
  CHECK(bands.y_m[2] == Approx(1000.0));
  CHECK(make_profile({"a", "b"}, {{0, 0}, {0.2, 0}}, {.azimuth_deg = 0.0}).y_m[1] == Approx(0.2));
  const auto unknown = [] {
    (void)make_profile({"kim438", "kim439"}, {{0, 0}, {9, 9}},
                       {.azimuth_deg = {}, .origin = "kim483", .distance = {}});
  };
  CHECK_THAT(tests::error_of<core::InvalidArgument>(unknown),
             tests::HasId("unknown_station", {"\"kim483\"", "\"kim438\""}));
  CHECK_THROWS_AS(make_profile({"a"}, {{0, 0}}, {}), core::InvalidArgument);
  CHECK_THROWS_AS(make_profile({}, {}, {}), core::InvalidArgument);
}

TEST_CASE("profile: stations along a line keep their places, and a part of a profile its own members",
          "[profile]") {
  const Profile line = profile_along({5.0, -3.0, 20.0});
  CHECK(line.azimuth_deg == 90.0);
  CHECK(line.y_m == std::vector<double>{5.0, -3.0, 20.0});
  CHECK(line.offset_m == std::vector<double>(3, 0.0));
  const Profile part = line.of({2, 0});
  CHECK(part.y_m == std::vector<double>{20.0, 5.0});
  CHECK(part.points.empty());
  const Profile mapped = make_profile({"a", "b"}, {{0, 0}, {0, 1000}}, {.azimuth_deg = 90.0}).of({1});
  CHECK(mapped.points.at(0).east_m == 1000.0);
  CHECK(mapped.offset_m.size() == 1);
}
