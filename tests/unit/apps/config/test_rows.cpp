// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "io/toml/options.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::mt_invert::config;
using tests::error_of;
using tests::HasId;

namespace {

enum class Colour { red, green };
constexpr auto words(Colour) {
  using enum Colour;
  return core::Words<Colour>{{red, "red"}, {green, "green"}};
}

struct Inner {
  double factor = 2.0;
};

struct Sample {
  bool flag = false;
  int count = 3;
  std::uint64_t seed = 1;
  double number = 0.5;
  std::string text = "none";
  Colour colour = Colour::red;
  std::vector<Colour> colours{Colour::red};
  std::vector<double> numbers;
  std::vector<std::int64_t> sizes{4, 8};
  std::vector<std::string> names;
  std::optional<double> width;
  std::string file;
  std::vector<std::string> files;
  Inner inner;
};

Rows<Sample> sample_rows() {
  return {row("flag", &Sample::flag, "a flag"),
          row("count", &Sample::count, at_least(1), "a count"),
          row("seed", &Sample::seed, at_least(0), "a seed"),
          row("number", &Sample::number, share(), "a share"),
          row("text", &Sample::text, "a text"),
          row("colour", &Sample::colour, "a colour"),
          row("colours", &Sample::colours, "some colours"),
          row("numbers", &Sample::numbers, above(0.0), "numbers"),
          row("sizes", &Sample::sizes, within(1, 16), "sizes"),
          row("names", &Sample::names, "names"),
          row("width", &Sample::width, above(0.0), "a width").otherwise("as wide as needed"),
          path_row("file", &Sample::file, "a file"),
          path_row("files", &Sample::files, "files"),
          row("factor", at(&Sample::inner, &Inner::factor), above(1.0), "a factor")
              .needs("flag = true", [](const Sample& sample) { return sample.flag; })};
}

ConfigTable table_of(const core::Options& given) { return {given, "/folder"}; }

Sample read_text(const std::string& text) {
  const core::Options given = io::toml::parse_options_toml(text, "c.toml");
  Sample sample = read(table_of(given), sample_rows(), Sample{});
  given.require_all_used();
  return sample;
}

core::Error refusal(const std::string& text) {
  return error_of<core::ConfigError>([&] { (void)read_text(text); });
}

std::string echo(const std::string& text) {
  const ConfigTable table = table_of(io::toml::parse_options_toml(text, "c.toml"));
  (void)read(table, sample_rows(), Sample{});
  return table.effective_toml();
}

}  // namespace

TEST_CASE("rows: every type of member is read, paths from the folder of the file", "[apps]") {
  const Sample sample = read_text(
      "flag = true\ncount = 7\nseed = 9\nnumber = 1\ntext = \"t\"\ncolour = \"green\"\n"
      "colours = [\"green\", \"red\"]\nnumbers = [1, 2.5]\nsizes = [1, 16]\nnames = [\"a\"]\nwidth = 4\n"
      "file = \"f.csv\"\nfiles = [\"/g\", \"h\"]\nfactor = 3.5\n");
  CHECK(sample.flag);
  CHECK(sample.count == 7);
  CHECK(sample.seed == 9);
  CHECK(sample.number == 1.0);
  CHECK(sample.text == "t");
  CHECK(sample.colour == Colour::green);
  CHECK(sample.colours == std::vector{Colour::green, Colour::red});
  CHECK(sample.numbers == std::vector{1.0, 2.5});
  CHECK(sample.sizes == std::vector<std::int64_t>{1, 16});
  CHECK(sample.names == std::vector<std::string>{"a"});
  CHECK(sample.width == 4.0);
  CHECK(sample.file == "/folder/f.csv");
  CHECK(sample.files == std::vector<std::string>{"/g", "/folder/h"});
  CHECK(sample.inner.factor == 3.5);
}

TEST_CASE("rows: defaults are echoed, but no key that no value expresses", "[apps]") {
  CHECK(echo("") ==
        "flag = false\ncount = 3\nseed = 1\nnumber = 0.5\ntext = \"none\"\ncolour = \"red\"\n"
        "colours = [\"red\"]\nsizes = [4, 8]\n");
  CHECK_THAT(echo("file = \"f\"\nwidth = 2\nnames = [\"a\"]\n"), Catch::Contains("file = \"f\"\n") &&
                                                                     Catch::Contains("width = 2.0\n") &&
                                                                     Catch::Contains("names = [\"a\"]\n"));
  const std::string all = echo("flag = true\n");
  CHECK(echo(all) == all);
}

TEST_CASE("rows: a value outside its limits is refused with place, limits and value", "[apps]") {
  CHECK_THAT(refusal("\ncount = 0\n"), HasId("out_of_range", {"c.toml:2", "count", "at least 1", "0"}));
  CHECK_THAT(refusal("count = 3000000000\n"), HasId("out_of_range", {"count", "3e+09"}));
  CHECK_THAT(refusal("seed = -1\n"), HasId("out_of_range", {"seed", "-1"}));
  CHECK_THAT(refusal("number = 0.0\n"), HasId("out_of_range", {"number", "more than 0", "at most 1"}));
  CHECK_THAT(refusal("number = 1.5\n"), HasId("out_of_range", {"1.5"}));
  CHECK_THAT(refusal("numbers = [1.0, -2.0]\n"), HasId("out_of_range", {"numbers", "more than 0", "-2"}));
  CHECK_THAT(refusal("sizes = [17]\n"), HasId("out_of_range", {"sizes", "1 to 16", "17"}));
  CHECK_THAT(refusal("sizes = [1.5]\n"), HasId("out_of_range", {"sizes", "1.5"}));
  CHECK_THAT(refusal("width = 0.0\n"), HasId("out_of_range", {"width"}));
  CHECK_THAT(refusal("flag = true\nfactor = 1.0\n"), HasId("out_of_range", {"c.toml:2", "more than 1"}));
}

TEST_CASE("rows: other types, words and keys are refused, as is a key without the setting it needs",
          "[apps]") {
  for (const char* text :
       {"flag = 1\n", "count = 1.5\n", "number = \"half\"\n", "text = 3\n", "numbers = 1.0\n",
        "names = [1]\n", "width = true\n", "file = 1\n", "colours = \"red\"\n"}) {
    INFO(text);
    CHECK_THAT(refusal(text), HasId("wrong_type", {"c.toml:1"}));
  }
  CHECK_THAT(refusal("colour = \"gren\"\n"), HasId("unknown_word", {"red", "green", "gren"}));
  CHECK_THAT(refusal("colours = [\"blue\"]\n"), HasId("unknown_word", {"colours", "red", "green", "blue"}));
  CHECK_THAT(refusal("colours = [\"red\", \"red\"]\n"), HasId("repeated", {"colours", "red"}));
  CHECK_THAT(refusal("colours = [\"\", \"red\"]\n"), HasId("empty_item", {"c.toml:1", "colours"}));
  CHECK_THAT(refusal("names = [\"a\", \"\"]\n"), HasId("empty_item", {"c.toml:1", "names"}));
  CHECK_THAT(refusal("names = [\"a\", \"b\", \"a\"]\n"), HasId("repeated", {"names", "\"a\""}));
  CHECK_THAT(refusal("files = [\"f\", \"\"]\n"), HasId("empty_item", {"files"}));
  CHECK_THAT(refusal("text = \"\"\n"), HasId("empty", {"c.toml:1", "text"}));
  CHECK_THAT(refusal("numbers = []\n"), HasId("empty", {"c.toml:1", "numbers"}));
  CHECK_THAT(refusal("names = []\n"), HasId("empty", {"c.toml:1", "names"}));
  CHECK_THAT(refusal("files = []\n"), HasId("empty", {"c.toml:1", "files"}));
  CHECK_THAT(refusal("file = \"\"\n"), HasId("empty", {"c.toml:1", "file"}));
  CHECK_THAT(refusal("text = \"" + std::string(5000, 't') + "\"\n"), HasId("too_long", {"text", "5000"}));
  CHECK_THAT(refusal("cout = 4\n"), HasId("unknown_key", {"c.toml:1", "cout", "count"}));
  CHECK_THAT(refusal("factor = 3.0\n"), HasId("not_chosen", {"c.toml:1", "factor", "flag = true"}));
}

TEST_CASE("rows: a required key has no default", "[apps]") {
  const Rows<Inner> rows{row("factor", &Inner::factor, above(1.0), "a factor").required()};
  const ConfigTable table = table_of(io::toml::parse_options_toml("", "c.toml"));
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)read(table, rows, Inner{}); }),
             HasId("missing_key", {"factor"}));
}

TEST_CASE("rows: limits hold at the ends they include", "[apps]") {
  CHECK(at_least(1).hold(1.0));
  CHECK_FALSE(above(1).hold(1.0));
  CHECK(share().hold(1.0));
  CHECK_FALSE(share().hold(0.0));
  constexpr Limits open{.least = 0.0, .most = 1.0, .above_least = true, .below_most = true};
  CHECK_FALSE(open.hold(1.0));
  constexpr Limits huber{.least = 0.1, .most = 100.0, .or_zero = true};
  CHECK(huber.hold(0.0));
  CHECK_FALSE(huber.hold(0.05));
  CHECK_FALSE(huber.hold(std::numeric_limits<double>::quiet_NaN()));
  CHECK(huber.text() == "0 or 0.1 to 100");
  CHECK(open.text() == "more than 0 and less than 1");
  CHECK(Limits{}.text().empty());
}

TEST_CASE("page: keys stand with values, defaults and the setting they need", "[apps]") {
  Page page;
  page.add("sample [one]", sample_rows());
  page.add("sample [one]", Rows<Sample>{row("count", &Sample::count, "a count")}, Sample{.count = 9},
           "flag = true");
  const std::string text = page.markdown("before\n<!-- keys: sample [one] -->\nafter\n");
  CHECK_THAT(text, Catch::StartsWith("before\n| key | value | default | needs | meaning |\n|---|") &&
                       Catch::EndsWith("|\nafter\n"));
  CHECK_THAT(text,
             Catch::Contains("| `count` | integer, at least 1 | `3`; `9` with `flag = true` | | a count |"));
  CHECK_THAT(text, Catch::Contains("| `colour` | `\"red\"`, `\"green\"` | `\"red\"` | | a colour |"));
  CHECK_THAT(text, Catch::Contains("| `factor` | number, more than 1 | `2.0` | `flag = true` | a factor |"));
  CHECK_THAT(text, Catch::Contains("| as wide as needed |"));
  CHECK_THAT(page.plain("one"), Catch::Contains("[one]") && Catch::Contains("count"));
  CHECK_THROWS_AS(page.markdown("no mark"), core::InvalidArgument);
  CHECK_THROWS_AS(page.markdown("<!-- keys: sample [one] -->\n<!-- keys: sample [two] -->\n"),
                  core::InvalidArgument);
  CHECK_THROWS_AS(page.plain("two"), core::ConfigError);
}

TEST_CASE("page: a default outside its own limits is an error", "[apps]") {
  Page page;
  CHECK_THAT(error_of<core::ConfigError>([&] {
               page.add("sample [one]", Rows<Inner>{row("factor", &Inner::factor, above(2.0), "a factor")});
             }),
             HasId("out_of_range", {"factor"}));
}

TEST_CASE("page: docs/configuration.md is what the program prints, and all defaults keep their limits",
          "[apps]") {
  INFO("write it anew: mt_invert help configuration --markdown > docs/configuration.md");
  const std::string printed = configuration_markdown();
  CHECK((tests::text_of_file(LODESTONE_SOURCE_DIR "/docs/configuration.md") == printed));
}
