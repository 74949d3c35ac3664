// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/geodesy/map_system.hpp"
#include "io/geodesy/profile.hpp"
#include "io/geodesy/projection.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

TEST_CASE("projection: the survey's own plane is centred, true to scale near the centre and comes back",
          "[geodesy]") {
  const std::vector<geodesy::GeoPoint> points{{-20.0, 16.0}, {-21.0, 16.5}, {-19.5, 15.0}};
  const geodesy::Projection projection(points);
  const auto plane = projection.to_plane(points);
  CHECK(std::abs(plane[0].north_m + plane[1].north_m + plane[2].north_m) < 2e3);
  const auto back = projection.to_geographic(plane);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(back[i].latitude_deg == Approx(points[i].latitude_deg).epsilon(1e-10));
    CHECK(back[i].longitude_deg == Approx(points[i].longitude_deg).epsilon(1e-10));
  }
  const double distance = std::hypot(plane[0].north_m - plane[1].north_m, plane[0].east_m - plane[1].east_m);
  CHECK(distance == Approx(geodesy::great_circle_distance_m(points[0], points[1])).epsilon(5e-3));
  CHECK(plane[1].north_m < plane[0].north_m);
  CHECK(plane[1].east_m > plane[0].east_m);
}

TEST_CASE("projection: UTM zone 33 south is found for Namibia and puts its central meridian at 500 km east",
          "[geodesy]") {
  const auto utm = geodesy::Projection::utm({{-20.0, 15.0}});
  CHECK(utm.definition() == "EPSG:32733");
  const auto plane = utm.to_plane({{-20.0, 15.0}});
  CHECK(plane[0].east_m == Approx(500e3).margin(1e-3));
  CHECK(plane[0].north_m == Approx(7788446.0).margin(1e4));
  CHECK(geodesy::Projection::utm({{60.0, 179.9}}).definition() == "EPSG:32660");
}

TEST_CASE("projection: points across the date line have one centre", "[geodesy]") {
  const std::vector<geodesy::GeoPoint> points{{10.0, 179.5}, {10.0, -179.5}};
  const auto plane = geodesy::Projection(points).to_plane(points);
  CHECK(std::abs(plane[0].east_m) < 60e3);
  CHECK(plane[1].east_m > plane[0].east_m);
}

TEST_CASE("projection: one that was made for another place is refused", "[geodesy]") {
  const std::vector<geodesy::GeoPoint> namibia{{-20.0, 15.0}, {-19.0, 17.0}};
  require_fit(geodesy::Projection(namibia), namibia);
  require_fit(geodesy::Projection::utm(namibia), namibia);
  require_fit(geodesy::Projection::from_definition("EPSG:32734"), namibia);  // the zone beside it
  for (const char* other : {"EPSG:32611", "EPSG:3857"}) {
    INFO(other);
    CHECK_THAT(error_of<core::ConfigError>(
                   [&] { require_fit(geodesy::Projection::from_definition(other), namibia); }),
               HasId("does_not_fit", {other, "latitude -20, longitude 15"}));
  }
}

TEST_CASE("projection: unknown or angular systems and points without coordinates are errors", "[geodesy]") {
  CHECK_THAT(error_of<core::ConfigError>([] { (void)geodesy::Projection::from_definition("EPSG:999999"); }),
             HasId("wrong_system", {"EPSG:999999"}));
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)geodesy::Projection::from_definition("EPSG:4326"); }),
             HasId("wrong_system", {"EPSG:4326"}));
  CHECK_THAT(error_of<core::ConfigError>([] { (void)geodesy::Projection::from_definition("EPSG:2225"); }),
             HasId("wrong_system", {"EPSG:2225"}));  // US survey feet
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)geodesy::Projection::from_definition("nonsense"); }),
             HasId("wrong_system", {"\"nonsense\""}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { (void)geodesy::Projection(std::vector<geodesy::GeoPoint>{}); }),
      HasId("no_point"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)geodesy::Projection({{std::nan(""), 1.0}});
             }),
             HasId("wrong_coordinates", {"nan"}));
}

TEST_CASE("map: stations of latitude and longitude get x to the north and y to the east of their middle",
          "[geodesy]") {
  std::vector<physics::mt::StationData> stations(2);
  for (std::size_t i = 0; i < 2; ++i) {
    stations[i].site.name = std::string(1, static_cast<char>('a' + i));
    stations[i].site.y_m = physics::mt::not_given;
    stations[i].site.latitude_deg = -20.0 + static_cast<double>(i);
    stations[i].site.longitude_deg = 16.0;
  }
  const auto map = geodesy::map(stations);
  CHECK(map.is_map);
  CHECK(map.azimuth_deg == 90.0);
  CHECK(map.offset_m[1] - map.offset_m[0] == Approx(110.7e3).epsilon(1e-3));
  CHECK(map.offset_m[0] + map.offset_m[1] == Approx(0.0).margin(1e-6));
  CHECK(std::abs(map.y_m[0] - map.y_m[1]) < 1.0);
  CHECK(map.origin_latitude_deg == Approx(-19.5).epsilon(1e-4));
  const auto turned = geodesy::map(stations, {.azimuth_deg = 0.0, .origin = "a"});
  CHECK(turned.y_m[0] == 0.0);
  CHECK(turned.y_m[1] == Approx(110.7e3).epsilon(1e-3));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)geodesy::map(stations, {.distance = physics::mt::Distance::running_sum}); }),
             HasId("running_sum", {"profile.distance"}));
}

TEST_CASE("map: stations that state x and y keep them, and count from one origin", "[geodesy]") {
  std::vector<physics::mt::StationData> stations(2);
  for (std::size_t i = 0; i < 2; ++i) {
    stations[i].site.name = std::string(1, static_cast<char>('a' + i));
    stations[i].site.x_m = 100.0 * static_cast<double>(i);
    stations[i].site.y_m = 5.0;
    stations[i].local_frame =
        physics::mt::LocalFrame{.latitude_deg = 45.0, .longitude_deg = -120.0, .azimuth_deg = 10.0};
  }
  const auto map = geodesy::map(stations);
  CHECK(map.offset_m == std::vector<double>{0.0, 100.0});
  CHECK(map.y_m == std::vector<double>{5.0, 5.0});
  CHECK(map.azimuth_deg == 100.0);
  CHECK(map.origin_longitude_deg == Approx(-120.0));
  CHECK_FALSE(map.projection.empty());
  stations[1].local_frame->latitude_deg = 46.0;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)geodesy::map(stations); }),
             HasId("other_frame", {"b"}));
}

TEST_CASE("map system: points of a frame have places in its own, in another and in degrees, and come back",
          "[geodesy]") {
  const physics::mesh::Frame frame = geodesy::frame_at({38.5, -117.9}, 1200.0, 120.0);
  const std::vector<physics::mesh::Point> points{{0.0, 0.0, 0.0}, {3000.0, -2000.0, 500.0}};
  const geodesy::MapSystem local, own(frame, frame.projection), utm(frame, "EPSG:32611"),
      degrees(frame, "EPSG:4326");
  CHECK(local.is_local());
  CHECK(local.places(points)[1] == physics::mesh::MapPlace{-2000.0, 3000.0, -500.0});
  CHECK(degrees.is_geographic());
  CHECK(degrees.places(points)[0].north_m == Approx(38.5).margin(1e-9));
  CHECK(degrees.places(points)[0].east_m == Approx(-117.9).margin(1e-9));
  CHECK(degrees.places(points)[1].elevation_m == 700.0);
  // Snyder (1987), eqs. 8-9 and 8-10
  CHECK(utm.places(points)[0].east_m == Approx(421521.18).margin(0.05));
  CHECK(utm.places(points)[0].north_m == Approx(4261677.14).margin(0.05));
  for (const geodesy::MapSystem* system : {&local, &own, &utm, &degrees}) {
    const auto back = system->points(system->places(points));
    for (std::size_t i = 0; i < points.size(); ++i) {
      CHECK(back[i].x_m == Approx(points[i].x_m).margin(1e-4));
      CHECK(back[i].y_m == Approx(points[i].y_m).margin(1e-4));
      CHECK(back[i].z_m == Approx(points[i].z_m).margin(1e-6));
    }
  }
  CHECK_THAT(error_of<core::InvalidArgument>([] { geodesy::MapSystem({}, "EPSG:32611"); }),
             HasId("no_place_on_map", {"EPSG:32611"}));
  CHECK_THAT(error_of<core::ConfigError>([&] { geodesy::MapSystem(frame, "EPSG:4979"); }),
             HasId("wrong_system", {"EPSG:4979"}));
}
