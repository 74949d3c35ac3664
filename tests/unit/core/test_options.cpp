// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <limits>

using namespace lodestone::core;
using lodestone::tests::message_of;

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
  CHECK(message_of<ConfigError>([&] { (void)root.integer("title"); }) ==
        "[configuration] run.toml:1: expected an integer for \"title\", got the text \"KIM-ETO\"");
  CHECK(message_of<ConfigError>([&] { (void)root.child("inversion").integer("target_rms"); }) ==
        "[configuration] run.toml:5: expected an integer for \"inversion.target_rms\", got the number 1.05");
  CHECK(message_of<ConfigError>([&] { (void)root.real("inversion"); }) ==
        "[configuration] run.toml:3: expected a finite number for \"inversion\", got a table");
  CHECK(message_of<ConfigError>([&] { (void)root.child("title"); }) ==
        "[configuration] run.toml:1: expected a table for \"title\", got the text \"KIM-ETO\"");
  CHECK(message_of<ConfigError>([&] { (void)root.flag("layer"); }) ==
        "[configuration] run.toml:11: expected true or false for \"layer\", got an array of tables");
  CHECK(message_of<ConfigError>([&] { (void)root.reals("inversion.modes"); }) ==
        "[configuration] run.toml:7: expected a list of finite numbers for \"inversion.modes\", got a list "
        "of 2 texts");
  root.set("inversion.target_rms", std::numeric_limits<double>::quiet_NaN(), "--set");
  CHECK(message_of<ConfigError>([&] { (void)root.real("inversion.target_rms"); }) ==
        "[configuration] --set: expected a finite number for \"inversion.target_rms\", got the number nan");
}

TEST_CASE("Options: a missing required key names the table it belongs to", "[core]") {
  const Options root = example();
  CHECK(message_of<ConfigError>([&] { (void)root.child("inversion").real("lambda"); }) ==
        "[configuration] run.toml:3: expected a finite number for \"inversion.lambda\", found no such key; "
        "please add it (given here: "
        "\"max_iterations\", \"target_rms\", \"bounded\", \"modes\", \"floors\")");
  for (const char* key : {"title", "inversion", "layer"}) CHECK(root.has(key));
  CHECK(message_of<ConfigError>([&] { (void)root.text("data"); }) ==
        "[configuration] run.toml: expected a text for \"data\", found no such key; please add it");
}

TEST_CASE(
    "Options: a missing required key names the one it may have been misspelt as, of its table or of the "
    "tables beside",
    "[core]") {
  const Options root = example();
  CHECK_THAT(message_of<ConfigError>([&] { (void)root.children("layer")[1].real("resistivty_ohm_m"); }),
             Catch::Contains("run.toml:13: expected a finite number for \"layer[1].resistivty_ohm_m\"") &&
                 Catch::Contains("is \"resistivity_ohm_m\" meant?"));
  CHECK_THAT(message_of<ConfigError>([&] { (void)root.child("invresion").real("target_rms"); }),
             Catch::Contains("run.toml: ") && Catch::Contains("is \"inversion\" meant?"));
  (void)root.child("inversion").real("target_rms");
  CHECK_THAT(message_of<ConfigError>([&] { (void)root.child("inversion").real("target_rm"); }),
             !Catch::Contains("meant"));  // that one is read
}

TEST_CASE("Options: a choice lists the allowed words and guesses the one meant", "[core]") {
  Options root;
  root.set("mode", std::string("tipppr"), "a.toml:2");
  CHECK(message_of<ConfigError>([&] {
          (void)root.choice("mode", {"te", "tm", "tipper"});
        }) ==
        "[configuration] a.toml:2: expected one of \"te\", \"tm\", \"tipper\" for \"mode\", got \"tipppr\"; "
        "did you mean \"tipper\"?");
  CHECK(root.choice("unset", {"te", "tm"}, "tm") == "tm");
}

TEST_CASE("Options: keys nobody read are errors that suggest the nearest known one", "[core]") {
  Options root;
  root.set("inversion.max_iteration", std::int64_t{3}, "run.toml:2");
  root.set("colour", std::string("red"), "run.toml:9");
  (void)root.child("inversion").integer("max_iterations", 15);
  CHECK(message_of<ConfigError>([&] { root.require_all_used(); }) ==
        "[configuration] run.toml:2: unknown key \"inversion.max_iteration\"; did you mean "
        "\"inversion.max_iterations\"? "
        "run.toml:9: unknown key \"colour\"; known here: \"inversion\"");
}

TEST_CASE("Options: a misspelt table is reported once, and reading everything is enough", "[core]") {
  Options root;
  root.set("inversoin.max_iterations", std::int64_t{3}, "run.toml:2");
  root.set("inversoin.target_rms", 1.0, "run.toml:3");
  (void)root.child("inversion").integer("max_iterations", 15);
  CHECK(message_of<ConfigError>([&] { root.require_all_used(); }) ==
        "[configuration] run.toml:2: unknown key \"inversoin\"; did you mean \"inversion\"?");
  const Options read = root.child("inversoin");
  (void)read.integer("max_iterations");
  (void)read.real("target_rms");
  CHECK_NOTHROW(root.require_all_used());
}

TEST_CASE("Options: unknown keys inside an array of tables are found", "[core]") {
  Options root = example();
  for (const Options& layer : root.children("layer")) (void)layer.real("resistivity", 1.0);
  const std::string text = message_of<ConfigError>([&] { root.require_all_used(); });
  CHECK(text.find("run.toml:12: unknown key \"layer[0].resistivity_ohm_m\"") != std::string::npos);
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
  CHECK(message_of<ConfigError>([&] { (void)root.element("layer", 2, "--set"); }) ==
        "[configuration] --set: expected layer[0] to [1], the tables there are, got [2]; they count from 0");
  CHECK_THAT(message_of<ConfigError>([&] { (void)root.element("inversion", 0, "--set"); }),
             Catch::Contains("[[inversion]]") && Catch::Contains("got a table"));
  CHECK_THAT(message_of<ConfigError>([&] { (void)root.element("box", 0, "--set"); }),
             Catch::Contains("got none"));
  CHECK(root.keys() == std::vector<std::string>{"title", "inversion", "layer"});
  Options other = example();
  other.clear_tables("layer");
  other.clear_tables("box");
  CHECK(other.children("layer").empty());
  CHECK(other.append_table("layer").path() == "layer[0]");
  root.set("layer", std::vector<double>{}, "--set");
  CHECK(root.children("layer").empty());
  CHECK_THROWS_AS(other.set("layer", std::vector<double>{1.0}, "--set"), ConfigError);
}

TEST_CASE("Options: a value and a table cannot share a key", "[core]") {
  Options root = example();
  CHECK(message_of<ConfigError>([&] { root.set("title.size", true, "--set"); }) ==
        "[configuration] --set: expected a table at \"title\", but the text \"KIM-ETO\" was set there; "
        "rename one of the two");
  CHECK(message_of<ConfigError>([&] { root.set("inversion", true, "--set"); }) ==
        "[configuration] --set: expected a value at \"inversion\", but a table was set there; set one of its "
        "keys instead");
  CHECK(message_of<ConfigError>([&] { (void)root.append_table("title", "x.toml:4"); }) ==
        "[configuration] x.toml:4: expected an array of tables at \"title\", but the text \"KIM-ETO\" was "
        "set there");
  CHECK_THROWS_AS(root.set("", true), ConfigError);
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
