// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <limits>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

Options example() {
  Options root;
  (void)root.table("", "run.toml");
  root.set("title", std::string("KIM-ETO"), "run.toml:1");
  (void)root.table("inversion", "run.toml:3");
  root.set("inversion.max_iterations", std::int64_t{15}, "run.toml:4");
  root.set("inversion.target_rms", 1.05, "run.toml:5");
  root.set("inversion.bounded", true, "run.toml:6");
  root.set("inversion.modes", std::vector<std::string>{"te", "tm"}, "run.toml:7");
  root.set("inversion.floors.phase_deg", std::vector<double>{2.86, 5.0}, "run.toml:9");
  for (int i = 0; i < 2; ++i) {
    Options layer = root.append_table("layer", "run.toml:" + std::to_string(11 + 2 * i));
    layer.set("resistivity_ohm_m", 100.0 * (i + 1), "run.toml:" + std::to_string(12 + 2 * i));
  }
  return root;
}

}  // namespace

TEST_CASE("Options: values are read by dotted key, by table and with defaults", "[core]") {
  const Options root = example();
  CHECK(root.text("title") == "KIM-ETO");
  CHECK(root.integer("inversion.max_iterations") == 15);
  const Options inversion = root.child("inversion");
  CHECK(inversion.path() == "inversion");
  CHECK(inversion.real("target_rms") == 1.05);
  CHECK(inversion.real("max_iterations") == 15.0);  // integers are numbers
  CHECK(inversion.flag("bounded"));
  CHECK(inversion.texts("modes") == std::vector<std::string>{"te", "tm"});
  CHECK(inversion.child("floors").reals("phase_deg") == std::vector<double>{2.86, 5.0});
  CHECK(inversion.integer("patience", 2) == 2);
  CHECK(root.child("mesh").real("padding", 4.0) == 4.0);
  CHECK(inversion.has("bounded"));
  CHECK_FALSE(inversion.has("lower"));
}

TEST_CASE("Options: arrays of tables keep their order and paths", "[core]") {
  const Options root = example();
  const auto layers = root.children("layer");
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].real("resistivity_ohm_m") == 100.0);
  CHECK(layers[1].real("resistivity_ohm_m") == 200.0);
  CHECK(layers[1].path() == "layer[1]");
  CHECK(root.children("box").empty());
}

TEST_CASE("Options: a later set replaces the value and its place", "[core]") {
  Options root = example();
  root.set("inversion.max_iterations", std::int64_t{3}, "--set");
  CHECK(root.integer("inversion.max_iterations") == 3);
  CHECK(root.where("inversion.max_iterations") == "--set");
  CHECK(root.where("title") == "run.toml:1");
  CHECK(root.child("inversion").where("") == "run.toml:3");
}

TEST_CASE("Options: a wrong type says where, what was expected and what came", "[core]") {
  Options root = example();
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.integer("title"); }),
             HasId("wrong_type", {"run.toml:1", "\"title\"", "\"KIM-ETO\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.child("inversion").integer("target_rms"); }),
             HasId("wrong_type", {"run.toml:5", "\"inversion.target_rms\"", "1.05"}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.real("inversion"); }),
             HasId("wrong_type", {"run.toml:3", "\"inversion\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.child("title"); }),
             HasId("wrong_type", {"run.toml:1", "\"title\"", "\"KIM-ETO\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.flag("layer"); }),
             HasId("wrong_type", {"run.toml:11", "\"layer\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.reals("inversion.modes"); }),
             HasId("wrong_type", {"run.toml:7", "\"inversion.modes\"", "2"}));
  root.set("inversion.target_rms", std::numeric_limits<double>::quiet_NaN(), "--set");
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.real("inversion.target_rms"); }),
             HasId("wrong_type", {"\"inversion.target_rms\""}));
}

TEST_CASE("Options: a missing required key names the table it belongs to", "[core]") {
  const Options root = example();
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.child("inversion").real("lambda"); }),
             HasId("missing_key", {"run.toml:3", "\"inversion.lambda\"", "\"max_iterations\"",
                                   "\"target_rms\"", "\"bounded\"", "\"modes\"", "\"floors\""}));
  for (const char* key : {"title", "inversion", "layer"}) CHECK(root.has(key));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.text("data"); }), HasId("missing_key", {"\"data\""}));
}

TEST_CASE(
    "Options: a missing required key names the one it may have been misspelt as, of its table or of the "
    "tables beside",
    "[core]") {
  const Options root = example();
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.children("layer")[1].real("resistivty_ohm_m"); }),
             HasId("missing_key", {"run.toml:13", "\"layer[1].resistivty_ohm_m\"", "\"resistivity_ohm_m\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.child("invresion").real("target_rms"); }),
             HasId("missing_key", {"run.toml: ", "\"inversion\""}));
  (void)root.child("inversion").real("target_rms");
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.child("inversion").real("target_rm"); }),
             HasId("missing_key") && !HasId("missing_key", {"\"target_rms\""}));  // that one is read
}

TEST_CASE("Options: a choice lists the allowed words and guesses the one meant", "[core]") {
  Options root;
  root.set("mode", std::string("tipppr"), "a.toml:2");
  CHECK_THAT(error_of<ConfigError>([&] {
               (void)root.choice("mode", {"te", "tm", "tipper"});
             }),
             HasId("unknown_word", {"a.toml:2", "\"te\"", "\"tm\"", "\"tipper\"", "\"mode\"", "\"tipppr\""}));
  CHECK(root.choice("unset", {"te", "tm"}, "tm") == "tm");
}

TEST_CASE("Options: keys nobody read are errors that suggest the nearest known one", "[core]") {
  Options root;
  root.set("inversion.max_iteration", std::int64_t{3}, "run.toml:2");
  root.set("colour", std::string("red"), "run.toml:9");
  (void)root.child("inversion").integer("max_iterations", 15);
  CHECK_THAT(
      error_of<ConfigError>([&] { root.require_all_used(); }),
      HasId("unknown_key", {"run.toml:2", "\"inversion.max_iteration\"", "\"inversion.max_iterations\"",
                            "run.toml:9", "\"colour\"", "\"inversion\""}));
}

TEST_CASE("Options: a misspelt table is reported once, and reading everything is enough", "[core]") {
  Options root;
  root.set("inversoin.max_iterations", std::int64_t{3}, "run.toml:2");
  root.set("inversoin.target_rms", 1.0, "run.toml:3");
  (void)root.child("inversion").integer("max_iterations", 15);
  CHECK_THAT(error_of<ConfigError>([&] { root.require_all_used(); }),
             HasId("unknown_key", {"run.toml:2", "\"inversoin\"", "\"inversion\""}) &&
                 !HasId("unknown_key", {"run.toml:3"}));
  const Options read = root.child("inversoin");
  (void)read.integer("max_iterations");
  (void)read.real("target_rms");
  CHECK_NOTHROW(root.require_all_used());
}

TEST_CASE("Options: unknown keys inside an array of tables are found", "[core]") {
  Options root = example();
  for (const Options& layer : root.children("layer")) (void)layer.real("resistivity", 1.0);
  CHECK_THAT(error_of<ConfigError>([&] { root.require_all_used(); }),
             HasId("unknown_key", {"run.toml:12", "\"layer[0].resistivity_ohm_m\""}));
}

TEST_CASE("Options: copies share the tree and its record of keys read", "[core]") {
  Options root;
  root.set("a", true);
  const Options copy = root;
  CHECK(copy.flag("a"));
  CHECK_NOTHROW(root.require_all_used());
}

TEST_CASE(
    "Options: tables of an array are reached by number, taken out together, and replaced by an empty list",
    "[core]") {
  Options root = example();
  root.element("layer", 1, "--set").set("resistivity_ohm_m", 7.0, "--set");
  CHECK(root.children("layer")[1].real("resistivity_ohm_m") == 7.0);
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.element("layer", 2, "--set"); }),
             HasId("no_such_element", {"0", "1", "2"}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.element("inversion", 0, "--set"); }),
             HasId("not_an_array", {"[[inversion]]", "inversion[0]"}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.element("box", 0, "--set"); }),
             HasId("not_an_array", {"[[box]]"}));
  CHECK(root.keys() == std::vector<std::string>{"title", "inversion", "layer"});
  Options other = example();
  other.clear_tables("layer");
  other.clear_tables("box");
  CHECK(other.children("layer").empty());
  CHECK(other.append_table("layer").path() == "layer[0]");
  root.set("layer", std::vector<double>{}, "--set");
  CHECK(root.children("layer").empty());
  CHECK_THROWS_MATCHES(other.set("layer", std::vector<double>({1.0}), "--set"), ConfigError,
                       HasId("not_a_value", {"\"layer\""}));
}

TEST_CASE("Options: a value and a table cannot share a key", "[core]") {
  Options root = example();
  CHECK_THAT(error_of<ConfigError>([&] { root.set("title.size", true, "--set"); }),
             HasId("not_a_table", {"\"title\"", "\"KIM-ETO\""}));
  CHECK_THAT(error_of<ConfigError>([&] { root.set("inversion", true, "--set"); }),
             HasId("not_a_value", {"\"inversion\""}));
  CHECK_THAT(error_of<ConfigError>([&] { (void)root.append_table("title", "x.toml:4"); }),
             HasId("not_an_array", {"x.toml:4", "\"title\"", "\"KIM-ETO\""}));
  CHECK_THROWS_MATCHES(root.set("", true), ConfigError, HasId("no_key"));
}

TEST_CASE("Options: the echo is TOML with every value", "[core]") {
  Options root = example();
  root.set("path", std::string("C:\\data \"x\""));
  root.set("whole", 3.0);
  root.set("channels", std::vector<std::int64_t>{8, 16});
  CHECK(root.reals("channels") == std::vector<double>{8.0, 16.0});
  root.set("small", 1e-30);
  root.set("key with space", std::vector<double>{});
  CHECK(root.to_toml() == R"(title = "KIM-ETO"
path = "C:\\data \"x\""
whole = 3.0
channels = [8, 16]
small = 1e-30
"key with space" = []

[inversion]
max_iterations = 15
target_rms = 1.05
bounded = true
modes = ["te", "tm"]

[inversion.floors]
phase_deg = [2.86, 5.0]

[[layer]]
resistivity_ohm_m = 100.0

[[layer]]
resistivity_ohm_m = 200.0
)");
}

TEST_CASE("nearest_word: finds typos and swapped letters, and gives nothing for another word", "[core]") {
  const std::vector<std::string> known{"frequency_hz", "depth_m", "target_rms"};
  CHECK(nearest_word("freqency_hz", known) == "frequency_hz");
  CHECK(nearest_word("dpeth_m", known) == "depth_m");
  CHECK(nearest_word("target_rms", known) == "target_rms");
  CHECK_FALSE(nearest_word("colour", known));
  CHECK_FALSE(nearest_word("x", {}));
}

TEST_CASE("options: what a table of --set lacks is missing in the file") {
  Options root;
  static_cast<void>(root.table("", "run.toml"));
  static_cast<void>(root.table("grid", "run.toml:4"));
  root.set("data.kind", std::string("impedance"), "--set");
  static_cast<void>(root.table("grid", "--set"));
  CHECK(root.child("data").where("modem_file") == "run.toml");
  CHECK(root.child("data").where("kind") == "--set");
  CHECK(root.child("grid").where("n_columns") == "run.toml:4");
}
