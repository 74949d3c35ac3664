// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/sites.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"
#include "tests/support/warnings.hpp"

#include <array>
#include <utility>

using namespace lodestone;
namespace mt = physics::mt;

namespace {

/// Turns by 17, 48, 31 and 0.06 degrees.
physics::mesh::SurfaceLine kinked_hill() {
  return {{-1000.0, 0.0, 500.0, 10000.0}, {0.0, -300.0, 0.0, 10.0}};
}

/// The first, third and fourth at its kinks.
std::vector<mt::Station> sites_on_hill() {
  std::vector<mt::Station> stations;
  for (const double y_m : {-980.0, -979.0, 0.0, -10.0, 511.0, 10000.0}) {
    stations.emplace_back();
    stations.back().name = "s" + std::to_string(stations.size() - 1);
    stations.back().y_m = y_m;
  }
  return stations;
}

}  // namespace

TEST_CASE("site depths: sites beside the surface are named with their distance, or moved onto it",
          "[physics]") {
  const physics::mesh::SurfaceLine slope({0.0, 1000.0}, {0.0, 100.0});
  std::vector<physics::mt::Station> stations(3);
  for (std::size_t i = 0; i < 3; ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].y_m = 500.0 * static_cast<double>(i);
  }
  const auto check = [&](const std::array<double, 3>& z_m, physics::mt::OffSurface off_surface) {
    for (std::size_t i = 0; i < 3; ++i) stations[i].z_m = z_m[i];
    physics::mt::check_site_depths(stations, slope, off_surface, "set drape");
  };
  const double not_stated = physics::mt::not_given;
  CHECK_NOTHROW(check({not_stated, not_stated, not_stated}, physics::mt::OffSurface::refuse));
  CHECK_NOTHROW(check({0.9, not_stated, 99.1}, physics::mt::OffSurface::refuse));
  const auto message = tests::message_of<core::InvalidArgument>([&] {
    check({0.0, 30.0, 101.5}, physics::mt::OffSurface::refuse);
  });
  CHECK_THAT(message, Catch::Contains("b (20.0 m above), c (1.5 m below)") && Catch::Contains("set drape"));
  CHECK_NOTHROW(check({0.0, 30.0, 101.5}, physics::mt::OffSurface::drape));
}

TEST_CASE("surface through stations: facets under them, corners between them", "[physics]") {
  std::vector<physics::mt::Station> stations(5);
  const std::array y_m{0.0, 800.0, 1000.0, 2000.0, 3000.0}, z_m{0.0, 80.0, 120.0, 500.0, 120.0};
  for (std::size_t i = 0; i < stations.size(); ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].y_m = y_m[i];
    stations[i].z_m = z_m[i];
  }
  std::swap(stations[0], stations[3]);
  const physics::mesh::SurfaceLine surface = physics::mt::surface_through(stations);
  CHECK(physics::mt::sites_at_kinks(stations, surface).empty());
  for (const auto& station : stations) CHECK(surface.z_at(station.y_m) == Approx(station.z_m));
  // b: slopes of 0.1 over 800 m and 0.2 over 200 m, weight (800 + 2·200)/(3·1000)
  const double slope = 0.1 * 0.2 / (0.4 * 0.2 + 0.6 * 0.1);
  CHECK(surface.z_at(799.0) == Approx(80.0 - slope));
  CHECK(surface.z_at(801.0) == Approx(80.0 + slope));
  CHECK(surface.y_m() == std::vector{200.0, 600.0, 850.0, 950.0, 1250.0, 1750.0, 2250.0, 2750.0});
  CHECK(surface.z_at(1990.0) == Approx(500.0));  // level at the deepest one, and at the ends
  CHECK(surface.z_at(-50.0) == Approx(0.0));
  CHECK(surface.z_at(2990.0) == Approx(120.0));
  for (double y = 1000.0; y <= 2000.0; y += 10.0) CHECK(std::abs(surface.z_at(y) - 310.0) < 190.0 + 1e-9);
  stations[1].z_m = physics::mt::not_given;
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)physics::mt::surface_through(stations); }),
             tests::HasId("no_depth", {"b"}));
  stations.resize(1);
  stations[0].z_m = 7.0;
  CHECK(physics::mt::surface_through(stations).is_flat());
}

TEST_CASE("surface through stations: it falls wherever they do, however far apart they stand", "[physics]") {
  std::vector<physics::mt::Station> stations(4);
  const std::array y_m{0.0, 100.0, 2000.0, 2100.0}, z_m{0.0, 50.0, 90.0, 140.0};
  for (std::size_t i = 0; i < stations.size(); ++i) {
    stations[i].y_m = y_m[i];
    stations[i].z_m = z_m[i];
  }
  const std::vector<double> z = physics::mt::surface_through(stations).z_m();
  CHECK(std::ranges::is_sorted(z));
}

TEST_CASE("sites at kinks: those within 2 % of the shorter segment, of kinks sharper than 2 degrees",
          "[physics]") {
  const auto stations = sites_on_hill();
  const auto found = physics::mt::sites_at_kinks(stations, kinked_hill());
  REQUIRE(found.size() == 3);
  CHECK(std::vector{found[0].site, found[1].site, found[2].site} == std::vector<std::size_t>{0, 2, 3});
  CHECK(found[0].distance_m == Approx(20.0));
  CHECK(found[1].distance_m == 0.0);
  CHECK(found[1].angle_rad * mt::deg_per_rad == Approx(16.699 + 30.964).epsilon(1e-4));
  CHECK(physics::mt::sites_at_kinks(stations, physics::mesh::SurfaceLine(5.0)).empty());
}

TEST_CASE("sites at kinks: one warning names them with their distances, none where there are none",
          "[physics]") {
  const auto stations = sites_on_hill();
  const auto warned = [&](const std::vector<physics::mt::Station>& sites) {
    tests::Capture err(STDERR_FILENO);
    physics::mt::warn_of_sites_at_kinks(sites, kinked_hill(), "move them");
    return err.text();
  };
  CHECK_THAT(warned(stations), Catch::Contains("3 of 6 sites") &&
                                   Catch::Contains("s0 (20.0 m from a turn by 16.7° at y = -1000 m), s2") &&
                                   Catch::Contains("move them"));
  CHECK(warned({stations[1], stations[4], stations[5]}).empty());
  CHECK_THAT(warned(std::vector(13, stations[2])), Catch::Contains("and 3 more"));
}

TEST_CASE("sites off the line: those beyond a fifth of its length are named, the farthest first",
          "[physics]") {
  std::vector<mt::Station> stations;
  for (const char* name : {"a", "b", "c", "d"}) stations.emplace_back().name = name;
  mt::Profile profile = mt::profile_along({0.0, 300e3, 400e3, 1000e3});
  const auto warned = [&](std::vector<double> offset_m) {
    profile.offset_m = std::move(offset_m);
    return tests::text_with(tests::warnings_of([&] { mt::warn_of_sites_off_line(stations, profile); }),
                            "mt::sites#sites_off_line");
  };
  CHECK(warned({0.0, 199e3, -199e3, 0.0}).empty());
  CHECK_THAT(warned({1e3, 210e3, -373.7e3, 0.0}), Catch::Contains("c (373.7 km off), b (210.0 km off)") &&
                                                      Catch::Contains("2 of 4 ") &&
                                                      Catch::Contains("1000.0 km"));
  profile = mt::profile_along({0.0, 0.0, 0.0, 0.0});  // an azimuth across the line
  CHECK(warned({0.0, 0.5, -0.5, 0.0}).empty());
  CHECK_THAT(warned({-5e3, 5e3, 0.0, 0.0}), Catch::Contains("a (5.0 km off)"));
  CHECK(mt::sites_off_line({}).empty());
}

TEST_CASE("close sites: pairs closer than half a column are named with their distance", "[physics]") {
  std::vector<mt::Station> stations(4);
  for (std::size_t i = 0; i < 4; ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].y_m = std::array{900.0, 120.0, 460.0, 100.0}[i];
  }
  using physics::mesh::TensorGrid;
  const auto warned = [&](const TensorGrid& grid) {
    return tests::text_with(
        tests::warnings_of([&] { mt::warn_of_close_sites(stations, grid, "take more columns"); }),
        "mt::sites#close_sites");
  };
  CHECK_THAT(warned(TensorGrid::section({0.0, 500.0, 1000.0}, {0.0, 1.0})),
             Catch::Contains("d and b (20 m apart, columns of 500 m); take more columns") &&
                 Catch::Contains("of 4 stations"));
  CHECK(warned(TensorGrid::section({0.0, 40.0, 80.0, 120.0, 160.0, 1000.0}, {0.0, 1.0})).empty());
  CHECK(warned(TensorGrid::layers(1.0, 1.0, 2)).empty());
  stations[0].y_m = 2000.0;  // beyond the grid: the outermost column counts
  CHECK(mt::close_sites(stations, TensorGrid::section({0.0, 1000.0}, {0.0, 1.0})).size() == 2);
}

TEST_CASE("sites outside: those beyond the columns of a grid are named, on its edge they are not",
          "[physics]") {
  std::vector<mt::Station> stations(3);
  for (std::size_t i = 0; i < 3; ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].y_m = std::array{0.0, 1000.0, 1000.5}[i];
    stations[i].x_m = std::array{-7.0, 0.0, 0.0}[i];
  }
  using physics::mesh::TensorGrid;
  const auto warned = [&](const TensorGrid& grid) {
    return tests::text_with(
        tests::warnings_of([&] { mt::warn_of_sites_outside(stations, grid, "check the origin"); }),
        "mt::sites#outside");
  };
  CHECK_THAT(warned(TensorGrid::section({0.0, 500.0, 1000.0}, {0.0, 1.0})),
             Catch::Contains("1 of 3 stations") && Catch::Contains("(y 0 to 1000 m)") &&
                 Catch::Contains("c (y 1000.5 m); check the origin"));
  const TensorGrid volume(physics::mesh::Edges{.x_m = {-5, 5}, .y_m = {0, 1000}, .z_m = {0, 1}});
  CHECK_THAT(warned(volume),
             Catch::Contains("2 of 3 stations") && Catch::Contains("a (x -7 m, y 0 m), c (x 0 m"));
  stations.resize(2);
  CHECK(warned(TensorGrid::section({0.0, 1000.0}, {0.0, 1.0})).empty());
  CHECK(warned(TensorGrid::layers(1.0, 1.0, 2)).empty());
}

TEST_CASE("close sites: on a map both distances count", "[physics]") {
  std::vector<mt::Station> stations(3);
  for (std::size_t i = 0; i < 3; ++i) stations[i].name = std::string(1, static_cast<char>('a' + i));
  stations[1].x_m = 30.0;
  stations[2].x_m = 400.0;
  const physics::mesh::TensorGrid grid(
      physics::mesh::Edges{{0.0, 500.0, 1000.0}, {-500.0, 500.0}, {0.0, 1.0}});
  const auto found = mt::close_sites(stations, grid);
  REQUIRE(found.size() == 1);
  CHECK(found[0].distance_m == Approx(30.0));
  CHECK(found[0].column_m == Approx(500.0));
}
