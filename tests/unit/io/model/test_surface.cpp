// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;

TEST_CASE("surface file: y_m,z_m lines or two bare columns in order, errors with their line", "[io]") {
  const tests::TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    core::write_file(folder / "s.csv", text);
    return tests::error_of<core::FormatError>(
        [&] { static_cast<void>(io::model::read_surface_file(folder / "s.csv")); });
  };
  core::write_file(folder / "hill.csv", "y_m,z_m\n-100,0\n0,-50\n\n100,0\n");
  CHECK(io::model::read_surface_file(folder / "hill.csv").z_at(0.0, -50.0) == Approx(-25.0));
  core::write_file(folder / "sea.prfl", "   0.0000000e+00   2.1900000e+03\n   1.0e+02   2.1880000e+03\n");
  CHECK(io::model::read_surface_file(folder / "sea.prfl").z_at(0.0, 50.0) == Approx(2189.0));
  CHECK_THAT(refusal("0 1\n2\n"), tests::HasId("not_a_pair", {"s.csv:2"}));
  CHECK_THAT(refusal("y,z\n0,0\n"), tests::HasId("not_a_surface", {"s.csv:1"}));
  CHECK_THAT(refusal("y_m,z_m\n0,0\n0,1\n"), tests::HasId("positions_not_increasing", {"s.csv:3"}));
  CHECK_THAT(refusal("y_m,z_m\n0,high\n"), tests::HasId("not_a_pair", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n0,1e300\n"), tests::HasId("off_the_earth", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n-1e9,0\n0,0\n"), tests::HasId("off_the_earth", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n"), tests::HasId("no_points", {"s.csv"}));
}

TEST_CASE("surface file: a map of points x_m,y_m,z_m in any order, errors with their line", "[io]") {
  const tests::TemporaryFolder folder;
  const auto refusal = [&](const std::string& points) {
    core::write_file(folder / "m.csv", "# a comment\nx_m,y_m,z_m\n" + points);
    return tests::error_of<core::FormatError>(
        [&] { static_cast<void>(io::model::read_surface_file(folder / "m.csv")); });
  };
  core::write_file(folder / "hill.csv", "x_m,y_m,z_m\n0,0,-8\n10,0,-4\n\n10,20,0\n0,20,0\n");
  const physics::mesh::Surface hill = io::model::read_surface_file(folder / "hill.csv");
  REQUIRE(hill.is_map());
  CHECK(hill.z_at(0.0, 10.0) == Approx(-4.0));
  CHECK(hill.z_at(10.0, 0.0) == Approx(-4.0));
  CHECK(hill.z_at(5.0, 0.0) == Approx(-6.0));
  CHECK_THAT(refusal("0,0,0\n0,1,0\n1,0,0\n"), tests::HasId("gap", {"1 of 4", "x = 1 m, y = 1 m"}));
  CHECK_THAT(refusal("0,0,0\n0,1,0\n1,0,0\n1,1,0\n0,1,5\n"),
             tests::HasId("point_twice", {"m.csv:7", "line 4"}));
  CHECK_THAT(refusal("0,0,0\n0,1,0\n"), tests::HasId("no_grid", {"1 and 2", "y_m,z_m"}));
  CHECK_THAT(refusal("0,0,1e9\n"), tests::HasId("off_the_earth", {"m.csv:3"}));
}
