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
  CHECK(io::model::read_surface_file(folder / "hill.csv").z_at(-50.0) == Approx(-25.0));
  core::write_file(folder / "sea.prfl", "   0.0000000e+00   2.1900000e+03\n   1.0e+02   2.1880000e+03\n");
  CHECK(io::model::read_surface_file(folder / "sea.prfl").z_at(50.0) == Approx(2189.0));
  CHECK_THAT(refusal("0 1\n2\n"), tests::HasId("not_a_pair", {"s.csv:2"}));
  CHECK_THAT(refusal("y,z\n0,0\n"), tests::HasId("not_a_surface", {"s.csv:1"}));
  CHECK_THAT(refusal("y_m,z_m\n0,0\n0,1\n"), tests::HasId("positions_not_increasing", {"s.csv:3"}));
  CHECK_THAT(refusal("y_m,z_m\n0,high\n"), tests::HasId("not_a_pair", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n0,1e300\n"), tests::HasId("off_the_earth", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n-1e9,0\n0,0\n"), tests::HasId("off_the_earth", {"s.csv:2"}));
  CHECK_THAT(refusal("y_m,z_m\n"), tests::HasId("no_points", {"s.csv"}));
}
