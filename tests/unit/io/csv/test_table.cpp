// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/csv/table.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

TEST_CASE("tables CSV: a heading, numbers that read back the same, an empty field for NaN", "[csv]") {
  const TemporaryFolder folder;
  core::Table table;
  table.add_numbers("depth_m", "m", {1.5, -2e-7});
  table.add_numbers("rho", "ohm m", {0.1, std::nan("")});
  csv::write_table(folder / "t.csv", table);
  CHECK(text_of_file(folder / "t.csv") == "depth_m,rho\n1.5,0.1\n-2e-07,\n");
}

TEST_CASE("tables CSV: numbers and texts survive the file, empty fields are missing") {
  const TemporaryFolder folder;
  core::Table written;
  written.add_texts("site", {"a,b", "", "7", "the \"old\" one", "\""});
  written.add_numbers("shift", "", {0.1, std::nan(""), -1.0 / 3.0, 4.0, 5.0});
  csv::write_table(folder / "t.csv", written);
  const core::Table read = csv::read_table(folder / "t.csv");
  CHECK(read == written);
  CHECK(read.origin() == folder / "t.csv");
  const auto refused = [&](const char* text) {
    return error_of<core::FormatError>([&] { (void)csv::read_table(write_text(folder, "bad.csv", text)); });
  };
  CHECK_THAT(refused(""), HasId("no_header", {"bad.csv:1"}));
  CHECK_THAT(refused("a,a\n1,2\n"), HasId("bad_name", {"bad.csv:1", "2"}));
  CHECK_THAT(refused("a,b\n1\n"), HasId("wrong_fields", {"bad.csv:2", "2", "1"}));
}
