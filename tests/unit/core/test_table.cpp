// SPDX-License-Identifier: Apache-2.0
#include "engine/core/store.hpp"
#include "engine/core/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <limits>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

Table example() {
  Table table;
  table.add_texts("site", {"kim438", ""}).add_numbers("period_s", "s", {10.0, missing});
  table.add_numbers("log10 ρₐ", "log10(ohm m)", {2.0, 3.5});
  return table;
}

}  // namespace

TEST_CASE("Table: columns are found by name with their kind and units", "[core]") {
  const Table table = example();
  CHECK(table.n_rows() == 2);
  CHECK(table.n_columns() == 3);
  CHECK(table.names() == std::vector<std::string>{"site", "period_s", "log10 ρₐ"});
  CHECK(table.texts("site") == Table::Texts{"kim438", ""});
  CHECK(table.numbers("log10 ρₐ") == Table::Numbers{2.0, 3.5});
  CHECK(table.units("period_s") == "s");
  CHECK(table.has("site"));
  CHECK_FALSE(table.has("sit"));
  CHECK(std::get<std::string>(table.row(0)[0]) == "kim438");
  CHECK(std::get<double>(table.row(1)[2]) == 3.5);
}

TEST_CASE("Table: a name that is missing, or of the other kind, is refused with the names there are",
          "[core]") {
  Table table = example();
  table.set_origin("a.csv");
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)table.numbers("period"); }),
             HasId("no_such_column", {"a.csv: ", "\"period\"", "\"site\", \"period_s\", \"log10 ρₐ\""}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)table.numbers("site"); }),
             HasId("other_kind", {"\"site\""}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)table.texts("period_s"); }),
             HasId("other_kind", {"\"period_s\""}));
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)table.row(2); }), HasId("no_such_row", {"2"}));
  CHECK_THAT(error_of<InvalidArgument>([] { (void)Table().column("x"); }),
             HasId("no_such_column", {"\"x\""}));
}

TEST_CASE("Table: bad names, other lengths and zero bytes are refused, and the table stays as it was",
          "[core]") {
  Table table = example();
  for (const char* name : {"", "a/b", "a\nb", ".", "..", "site"}) {
    INFO(name);
    CHECK_THAT(error_of<InvalidArgument>([&] {
                 table.add_numbers(name, "", {1.0, 2.0});
               }),
               HasId("bad_name"));
  }
  CHECK_THAT(error_of<ShapeError>([&] { table.add_numbers("x", "", {1.0}); }),
             HasId("wrong_length", {"2", "\"x\"", "1"}));
  CHECK_THAT(error_of<InvalidArgument>([&] {
               table.add_texts("x", {std::string("a\0b", 3), ""});
             }),
             HasId("zero_byte"));
  CHECK(table == example());
}

TEST_CASE("Table: rows and tables of the same columns are appended, others are refused", "[core]") {
  Table table = example();
  table.append_row({"kim439", 20.0, 4.0});
  CHECK(table.n_rows() == 3);
  CHECK(table.texts("site").back() == "kim439");
  CHECK(table.numbers("period_s").back() == 20.0);
  CHECK_THAT(error_of<ShapeError>([&] {
               table.append_row({"kim440", 20.0});
             }),
             HasId("wrong_row", {"3", "2"}));
  CHECK_THAT(error_of<InvalidArgument>([&] {
               table.append_row({"kim440", 20.0, "high"});
             }),
             HasId("other_kind", {"\"log10 ρₐ\"", "row 3"}));
  CHECK_THAT(error_of<InvalidArgument>([&] {
               table.append_row({std::string("a\0", 2), 1.0, 1.0});
             }),
             HasId("zero_byte"));
  CHECK(table.n_rows() == 3);
  table.append(table);
  CHECK(table.n_rows() == 6);
  CHECK(table.texts("site")[5] == "kim439");
  CHECK(table.numbers("log10 ρₐ")[3] == 2.0);
  Table other = example();
  other.add_texts("remark", {"", ""});
  CHECK_THAT(error_of<InvalidArgument>([&] { table.append(other); }), HasId("other_columns", {"\"remark\""}));
  const Table other_units({{"site", "", Table::Texts{}},
                           {"period_s", "ms", Table::Numbers{}},
                           {"log10 ρₐ", "log10(ohm m)", Table::Numbers{}}});
  CHECK_THAT(error_of<InvalidArgument>([&] { table.append(other_units); }), HasId("other_columns"));
}

TEST_CASE("Table: equality looks at names, units, kinds and values, and a missing number equals another",
          "[core]") {
  const auto one = [](std::string name, std::string units, double value) {
    return Table().add_numbers(std::move(name), std::move(units), {value});
  };
  CHECK(example() == example());
  CHECK(one("a", "m", missing) == one("a", "m", missing));
  CHECK_FALSE(one("a", "m", missing) == one("a", "m", 0.0));
  CHECK_FALSE(one("a", "m", 1.0) == one("b", "m", 1.0));
  CHECK_FALSE(one("a", "m", 1.0) == one("a", "km", 1.0));
  CHECK_FALSE(Table().add_texts("a") == Table().add_numbers("a", ""));
  CHECK_FALSE(Table().add_texts("a", {"x"}) == Table().add_texts("a", {"y"}));
}

TEST_CASE("Table: without some columns, the others stay in order", "[core]") {
  const std::vector<std::string> taken{"period_s"}, absent{"x"};
  CHECK(example().without(taken).names() == std::vector<std::string>{"site", "log10 ρₐ"});
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)example().without(absent); }), HasId("no_such_column"));
}

TEST_CASE("Table: comes back as it was written, also without rows or columns", "[core]") {
  MemoryArrays arrays;
  const Table none, no_rows = Table().add_texts("site").add_numbers("period_s", "s");
  write(arrays, "a/table", example());
  write(arrays, "none", none);
  write(arrays, "no rows", no_rows);
  CHECK(read_table(arrays, "a/table") == example());
  CHECK(read_table(arrays, "a/table").origin() == "memory");
  CHECK(read_table(arrays, "none") == none);
  CHECK(read_table(arrays, "no rows") == no_rows);
}

TEST_CASE("Table: what is no table, or a damaged one, is a format error", "[core]") {
  MemoryArrays arrays;
  CHECK_THAT(error_of<FormatError>([&] { (void)read_table(arrays, "x"); }),
             HasId("no_table", {"memory", "\"x\""}));
  write(arrays, "x", example());
  arrays.attribute("x", "columns", "site\ndepth_m");
  CHECK_THAT(error_of<FormatError>([&] { (void)read_table(arrays, "x"); }),
             HasId("missing_column", {"\"depth_m\"", "\"x\""}));
  write_vector(arrays, "x/depth_m", std::vector<double>{1.0});
  CHECK_THAT(error_of<FormatError>([&] { (void)read_table(arrays, "x"); }),
             HasId("damaged", {"\"depth_m\""}));
  write_vector(arrays, "x/depth_m", std::vector<std::int64_t>{1, 2});
  CHECK_THAT(error_of<FormatError>([&] { (void)read_table(arrays, "x"); }), HasId("other_array", {"i64"}));
}
