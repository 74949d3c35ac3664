// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "io/toml/options.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mesh::DepthReference;
using physics::mesh::Model;

namespace {

core::Error options_message(const std::string& text) {
  return error_of<core::ConfigError>([&] { (void)toml::parse_options_toml(text, "run.toml"); });
}

Model section_of(const std::string& text) {
  const TemporaryFolder folder;
  return model::read_model_toml(write_text(folder, "m.toml", text));
}

core::Error model_message(const std::string& text) {
  return error_of<core::ConfigError>([&] { (void)section_of(text); });
}

double at(const Model& s, double y, double z) {
  return s.values[s.earth.grid.index(s.earth.grid.row_of(z), s.earth.grid.column_of(y))];
}

}  // namespace

TEST_CASE("TOML options: values of every kind, tables and arrays of tables are read with file and line",
          "[toml]") {
  const auto options = toml::parse_options_toml(
      "flag = true\ncount = 3\nx = 1.5\nname = \"a\"\nlist = [1, 2.5]\nwords = [\"p\", \"q\"]\nempty = "
      "[]\n[data]\npath = \"d\"\n"
      "[[mask]]\nstation = \"s\"\n[[mask]]\nstation = \"t\"\n[deep.er]\nk = -1\n",
      "run.toml");
  CHECK(options.flag("flag"));
  CHECK(options.integer("count") == 3);
  CHECK(options.real("x") == 1.5);
  CHECK(options.real("count") == 3.0);
  CHECK(options.text("name") == "a");
  CHECK(options.reals("list") == std::vector<double>{1.0, 2.5});
  CHECK(options.texts("words") == std::vector<std::string>{"p", "q"});
  CHECK(options.texts("empty").empty());
  CHECK(options.child("data").text("path") == "d");
  REQUIRE(options.children("mask").size() == 2);
  CHECK(options.children("mask")[0].text("station") == "s");
  CHECK(options.children("mask")[1].text("station") == "t");
  CHECK(options.integer("deep.er.k") == -1);
  CHECK(options.where("x") == "run.toml:3");
  CHECK(options.child("data").where("path") == "run.toml:9");
  CHECK_NOTHROW(options.require_all_used());
}

TEST_CASE(
    "TOML options: syntax errors and values no option can hold are configuration errors with file and line",
    "[toml]") {
  CHECK_THAT(options_message("a = 1\nb = \n"), HasId("not_toml", {"run.toml:2"}));
  CHECK_THAT(options_message("a = 1\na = 2\n"), HasId("not_toml", {"run.toml:2"}));
  CHECK_THAT(options_message("a = 1979-05-27\n"), HasId("date_or_time", {"run.toml:1", "\"a\""}));
  CHECK_THAT(options_message("a = [1, \"x\"]\n"), HasId("mixed_list", {"\"a\""}));
  CHECK_THAT(options_message("a = [[1], 2]\n"), HasId("wrong_list", {"\"a\""}));
  CHECK_THAT(options_message("\"a.b\" = 1\n"), HasId("wrong_key", {"\"a.b\""}));
  CHECK_THAT(options_message("a = \"\xff\"\n"), HasId("not_toml", {"run.toml:1"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)toml::read_options_toml("/none/run.toml"); }),
             HasId("no_file", {"/none/run.toml"}));
  CHECK_THAT(error_of<core::ConfigError>(
                 [] { toml::parse_options_toml("colour = 1\n", "run.toml").require_all_used(); }),
             HasId("unknown_key", {"run.toml:1", "\"colour\""}));
}

TEST_CASE("assignments by --set: the value is TOML where it can be, else text", "[toml]") {
  auto options = toml::parse_options_toml("a = 1\n[t]\nb = 2\n", "run.toml");
  toml::set_option(options, "t.b=3.5");
  toml::set_option(options, "t.c = [1, 2]");
  toml::set_option(options, "name=data/folder");
  toml::set_option(options, "quoted=\"x\"");
  toml::set_option(options, "yes=true");
  CHECK(options.real("t.b") == 3.5);
  CHECK(options.child("t").where("b") == "--set");
  CHECK(options.reals("t.c") == std::vector<double>{1, 2});
  CHECK(options.text("name") == "data/folder");
  CHECK(options.text("quoted") == "x");
  CHECK(options.flag("yes"));
  for (const char* bad : {"a", "=1", ".a=1", "a..b=1", "a.=1"})
    CHECK_THAT(error_of<core::ConfigError>([&] { (void)toml::set_option(options, bad); }),
               HasId("wrong_assignment"));
}

TEST_CASE("assignments by --set: tables of an array by number, or all of them", "[toml]") {
  const auto with = [](const std::vector<std::string>& assignments) {
    auto options =
        toml::parse_options_toml("[p]\n[[p.r]]\nx = 1\n[[p.r.m]]\nk = 5\n[[p.r]]\nx = 2\n", "run.toml");
    for (const std::string& each : assignments) toml::set_option(options, each);
    return options;
  };
  const auto refusal = [&](const std::string& assignment) {
    return error_of<core::ConfigError>([&] { (void)with({assignment}); });
  };
  CHECK(with({"p.r[1].x=7"}).to_toml() == "\n[p]\n\n[[p.r]]\nx = 1\n\n[[p.r.m]]\nk = 5\n\n[[p.r]]\nx = 7\n");
  CHECK(with({"p.r[0].m[0].k=6"}).children("p.r")[0].children("m")[0].integer("k") == 6);
  CHECK(with({"p.r[1].new.y=1"}).to_toml().ends_with("[p.r.new]\ny = 1\n"));
  CHECK(with({"p.r=[{x = 9}]"}).to_toml() == "\n[p]\n\n[[p.r]]\nx = 9\n");
  CHECK(with({"p.r=[]"}).children("p.r").empty());
  CHECK(with({"p.r=[]", "p.r=[{x = 3}, {x = 4}]", "p.r[1].x=5"}).children("p.r")[1].integer("x") == 5);
  CHECK_THAT(refusal("p.r[2].x=1"), HasId("no_such_element", {"--set", "p.r[0]", "[1]", "[2]"}));
  CHECK_THAT(refusal("p.s[0].x=1"), HasId("not_an_array", {"[[p.s]]"}));
  for (const char* bad : {"p.r[0]=1", "p.r[a].x=1", "p.r[-1].x=1", "p.r[0]x=1", "p.r[0.x=1", "[0].x=1"})
    CHECK_THAT(refusal(bad), HasId("wrong_element", {"--set", bad}));
  CHECK_THAT(refusal("p.r[0].=1"), HasId("wrong_assignment", {"--set", "p.r[0].=1"}));
}

TEST_CASE("TOML options: a key missing from a table without lines is told with the file", "[toml]") {
  const auto options = toml::parse_options_toml("a = 1\n", "run.toml");
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)options.child("grid").real("x"); }),
             HasId("missing_key", {"run.toml"}));
}

TEST_CASE(
    "TOML model: layers and boxes stand exactly where the file says, later boxes win, the rest is background",
    "[toml]") {
  const auto s = section_of(
      "[background]\nthickness_m = [1000, 4000]\nresistivity_ohm_m = [10, 100, 1e-6]\n"
      "[[box]]\ny_min_m = -500\ny_max_m = 500\nz_min_m = 250\nz_max_m = 2250\nresistivity_ohm_m = 0.5\n"
      "[[box]]\ny_min_m = 0\ny_max_m = 700\nz_min_m = 250\nz_max_m = 300\nresistivity_ohm_m = 7\n");
  const auto& y = s.earth.grid.y_edges_m();
  const auto& z = s.earth.grid.z_edges_m();
  CHECK(std::vector<double>(y.begin() + 1, y.end() - 1) == std::vector<double>{-500, 0, 500, 700});
  CHECK(std::vector<double>(z.begin(), z.end() - 1) == std::vector<double>{0, 250, 300, 1000, 2250, 5000});
  CHECK(at(s, -400, 260) == 0.5);
  CHECK(at(s, 100, 260) == 7.0);
  CHECK(at(s, 600, 260) == 7.0);
  CHECK(at(s, 600, 310) == 10.0);
  CHECK(at(s, 0, 2000) == 0.5);
  CHECK(at(s, 0, 2300) == 100.0);
  CHECK(at(s, -1e6, 100) == 10.0);
  CHECK(at(s, 0, 1e6) == 1e-6);
  CHECK(s.earth.grid.reference() == DepthReference::surface);
}

TEST_CASE("TOML model: open boxes reach without end, a half-space needs one number", "[toml]") {
  const auto half_space = section_of("[background]\nresistivity_ohm_m = [100]\n");
  CHECK(half_space.earth.grid.n_cells() == 1);
  const auto s = section_of(
      "[background]\nthickness_m = [50e3]\nresistivity_ohm_m = [2, 1e-6]\n[[box]]\ny_max_m = -10e3\nz_max_m "
      "= 50e3\nresistivity_ohm_m = 1\n"
      "[[box]]\ny_min_m = 10e3\nz_max_m = 50e3\nresistivity_ohm_m = 10\n");
  CHECK(at(s, -1e9, 10) == 1.0);
  CHECK(at(s, 0, 10) == 2.0);
  CHECK(at(s, 1e9, 49e3) == 10.0);
  CHECK(at(s, 1e9, 51e3) == 1e-6);
}

TEST_CASE("TOML model: a surface line, and depths from the datum or the surface", "[toml]") {
  const std::string hill =
      "[surface]\ny_m = [-1000, 0, 1000]\nz_m = [0, -450, 0]\n[background]\nthickness_m = "
      "[100]\nresistivity_ohm_m = [5, 100]\n";
  const auto draped = section_of(hill);
  CHECK(draped.earth.grid.z_edges_m().front() == 0.0);
  CHECK(draped.earth.surface.z_at(0.0, 0.0) == -450.0);
  const auto fixed = section_of("depth_reference = \"datum\"\n" + hill);
  CHECK(fixed.earth.grid.reference() == DepthReference::datum);
  CHECK(fixed.earth.grid.z_edges_m().front() == -450.0);
  CHECK(at(fixed, 0, -200) == 5.0);
}

TEST_CASE("TOML model: unknown keys, wrong shapes and signs are configuration errors with file and line",
          "[toml]") {
  CHECK_THAT(model_message("[background]\nresistivity_ohmm = [1]\n"),
             HasId("missing_key", {"resistivity_ohm_m"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1]\nthicknes_m = []\n"),
             HasId("unknown_key", {"m.toml:3", "\"background.thicknes_m\"", "thickness_m"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1, 2]\n"),
             HasId("wrong_thicknesses", {"m.toml:2"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [-1]\n"), HasId("not_positive", {"-1"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1]\n[[box]]\ny_min_m = 5\ny_max_m = "
                           "1\nresistivity_ohm_m = 1\n"),
             HasId("box_reversed", {"m.toml:3", "y_min_m", "y_max_m"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1.0]\n[[box]]\ny_min_m = -1e-300\ny_max_m = "
                           "1e-300\nresistivity_ohm_m = 2.0\n"),
             HasId("too_thin", {"m.toml:5", "y_max_m", "2e-300"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = []\n"), HasId("no_layers", {"m.toml:2"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1e-7]\n"),
             HasId("resistivity_out_of_range", {"m.toml:2", "1e-06", "1e+12"}));
  CHECK_THAT(
      model_message("[background]\nresistivity_ohm_m = [1]\n[[box]]\nresistivity_ohm_m = 1e13\n"),
      HasId("resistivity_out_of_range", {"m.toml:4", "1e-06", "1e+12", "\"resistivity_ohm_m\"", "1e+13"}));
  CHECK(section_of("[background]\nresistivity_ohm_m = [1e12]\n").values[0] == 1e12);
  const std::string polygon =
      "[background]\nresistivity_ohm_m = [1]\n[[polygon]]\nresistivity_ohm_m = 1\npoints = ";
  CHECK_THAT(model_message(polygon + "\"x\"\n"), HasId("not_a_list_of_lists", {"m.toml:5"}));
  CHECK_THAT(model_message(polygon + "[[0, 1], [1, nan], [2, 2]]\n"),
             HasId("wrong_type", {"m.toml:5", "points[1]", "2", "nan"}));
  CHECK_THAT(model_message("[background]\nresistivity_ohm_m = [1]\n[[box]]\ny_min_m = 5\n"),
             HasId("missing_key", {"resistivity_ohm_m"}));
  CHECK_THAT(model_message("x = 1\n"), HasId("no_background", {"[background]"}));
  CHECK_THAT(model_message("[surface]\ny_m = [0, 1]\nz_m = [0]\n[background]\nresistivity_ohm_m = [1]\n"),
             HasId("wrong_surface", {"m.toml:1"}));
  CHECK_THAT(model_message("depth_reference = \"sea\"\n[background]\nresistivity_ohm_m = [1]\n"),
             HasId("unknown_word", {"\"surface\"", "\"datum\""}));
}

TEST_CASE("TOML options: a list of lists becomes a list of tables with one key", "[toml]") {
  const auto options = toml::parse_options_toml("points = [[1, 2.5],\n [3, 4]]\n", "run.toml");
  REQUIRE(options.children("points").size() == 2);
  CHECK(options.children("points")[1].reals("row") == std::vector<double>{3.0, 4.0});
  CHECK_THROWS_AS(toml::parse_options_toml("points = [[1, 2], 3]\n", "run.toml"), core::ConfigError);
  CHECK_THROWS_AS(toml::parse_options_toml("points = [[1, \"two\"]]\n", "run.toml"), core::ConfigError);
}

TEST_CASE(
    "TOML model: lines stand on every corner of a polygon, slanted edges are cut, cut cells carry their mean "
    "conductivity",
    "[toml]") {
  const std::string text =
      "resolution_m = 250\n[background]\nresistivity_ohm_m = [100.0]\n[[polygon]]\npoints = [[0, 1000], "
      "[2000, 1000], [1000, 2000], [0, "
      "2000]]\n"
      "resistivity_ohm_m = 1.0\n";
  const auto section = section_of(text);
  CHECK(section.earth.grid.reference() == DepthReference::datum);
  const auto& y = section.earth.grid.y_edges_m();
  CHECK(std::vector<double>(y.begin() + 1, y.end() - 1) ==
        std::vector<double>{0, 1000, 1250, 1500, 1750, 2000});
  CHECK(section.earth.grid.z_edges_m().size() == 7);  // 0, 1000 … 2000 in steps of 250, one row below
  CHECK(at(section, 500, 1500) == 1.0);
  CHECK(at(section, 1400, 1100) == 1.0);
  CHECK(at(section, 1900, 1900) == 100.0);
  CHECK(at(section, 1625, 1375) == Approx(2.0 / 1.01));  // half of it
  double area = 0.0;                                     // of the polygon, by conductivity
  for (int iz = 0; iz < section.earth.grid.n_z(); ++iz) {
    for (int iy = 0; iy < section.earth.grid.n_y(); ++iy) {
      const auto &ys = section.earth.grid.y_edges_m(), &zs = section.earth.grid.z_edges_m();
      const double share = (1.0 / section.values[section.earth.grid.index(iz, iy)] - 0.01) / 0.99;
      area += share * (ys[iy + 1] - ys[iy]) * (zs[iz + 1] - zs[iz]);
    }
  }
  CHECK(area == Approx(1.5e6));
}

TEST_CASE(
    "TOML model: slanted edges are cut as finely as resolution_m says, a 64th of them at the finest, or more "
    "finely for refine",
    "[toml]") {
  const std::string shape =
      "[background]\nresistivity_ohm_m = [100.0]\n[[polygon]]\npoints = [[0, 0], [1000, 0], [0, "
      "1000]]\nresistivity_ohm_m = 1.0\n";
  CHECK(section_of(shape).earth.grid.n_y() ==
        46 + 2);  // 1000 m in pieces of at least 1414/64 m, the default at the surface
  CHECK(section_of("resolution_m = 10\n" + shape).earth.grid.n_y() == 46 + 2);
  const TemporaryFolder folder;
  const auto path = write_text(folder, "m.toml", "resolution_m = 500\n" + shape);
  CHECK(model::read_model_toml(path).earth.grid.n_y() == 2 + 2);
  CHECK(model::read_model_toml(path, 10.0).earth.grid.n_y() == 20 + 2);
}

TEST_CASE("TOML model: later polygons hide earlier ones, also within a cell that both cut", "[toml]") {
  const std::string nested =
      "resolution_m = 1000\n[background]\nresistivity_ohm_m = [100.0]\n[[polygon]]\npoints = [[0, 0], [1000, "
      "0], [0, "
      "1000]]\nresistivity_ohm_m = 1.0\n"
      "[[polygon]]\npoints = [[0, 0], [1000, 0], [0, 1000]]\nresistivity_ohm_m = 10.0\n";
  CHECK(at(section_of(nested), 500, 500) == Approx(2.0 / 0.11).epsilon(0.1));  // the first is not seen
  const std::string beside = replaced(nested, "1000, 0], [0, 1000]]\nresistivity_ohm_m = 10.0",
                                      "1000, 1000], [0, 1000]]\nresistivity_ohm_m = 10.0");
  CHECK(at(section_of(beside), 500, 500) ==
        Approx(1.0 / (0.5 * 0.1 + 0.25 * 1.0 + 0.25 * 0.01)).epsilon(0.1));
}

TEST_CASE(
    "TOML model: a sea needs a resistivity, surfaces and polygons that cross themselves are refused with "
    "their place",
    "[toml]") {
  const std::string base = "[background]\nresistivity_ohm_m = [1.0]\n";
  const auto sea =
      section_of(base + "[surface]\npoints = [[0, 2000], [1000, 1500]]\n[sea]\nresistivity_ohm_m = 0.3\n");
  CHECK(sea.earth.sea.value().level_m == 0.0);
  CHECK(sea.earth.sea.value().resistivity_ohm_m == 0.3);
  CHECK(sea.earth.surface.z_at(0.0, 500.0) == Approx(1750.0));
  CHECK_FALSE(section_of(base).earth.sea.has_value());
  CHECK_THAT(model_message(base + "[sea]\nlevel_m = 0\n"),
             HasId("no_sea_resistivity", {"m.toml:3", "resistivity_ohm_m"}));
  const std::string hill = "[surface]\npoints = [[0, 0], [10, -5], [20, -1]]\n";
  CHECK(
      section_of(base + hill + "[sea]\nlevel_m = -1\nresistivity_ohm_m = 0.3\n").earth.sea.value().level_m ==
      -1.0);
  CHECK_THAT(model_message(base + hill + "[sea]\nlevel_m = 0\nresistivity_ohm_m = 0.3\n"),
             HasId("sea_without_water", {"m.toml:6", "level_m = 0", "z = 0 m", "[sea]"}));
  CHECK_THAT(model_message(base + "[surface]\npoints = [[0, 0], [10, 5], [5, 9]]\n"),
             HasId("surface_turns_back", {"m.toml:4", "3"}));
  CHECK_THAT(
      model_message(base +
                    "[[polygon]]\npoints = [[0, 0], [10, 10], [10, 0], [0, 10]]\nresistivity_ohm_m = 1\n"),
      HasId("wrong_polygon", {"m.toml:4"}));
  CHECK_THAT(model_message(base + "[[polygon]]\npoints = [[0, 0], [10, 10]]\nresistivity_ohm_m = 1\n"),
             HasId("wrong_polygon", {"m.toml:4"}));
  CHECK_THAT(
      model_message(base + "[[polygon]]\npoints = [[0, 0, 1], [10, 10], [1, 2]]\nresistivity_ohm_m = 1\n"),
      HasId("point_not_a_pair", {"3", "1"}));
  CHECK_THAT(model_message(base + "[[polygon]]\npoints = [[0, 0], [10, 10], [10, 0]]\n"),
             HasId("missing_key", {"resistivity_ohm_m"}));
  CHECK_THAT(model_message("resolution_m = -1\n" + base),
             HasId("not_positive", {"m.toml:1", "resolution_m"}));
}

TEST_CASE("TOML options: texts of a file in Latin-1 are UTF-8, and hold no control characters", "[toml]") {
  const TemporaryFolder folder;
  const auto options = toml::read_options_toml(write_text(folder, "run.toml",
                                                          "title = \"Orl\xE9"
                                                          "ans \\u001b[31m\"\nnames = [\"a\\nb\"]\n"));
  CHECK(options.text("title") == "Orléans  [31m");
  CHECK(options.texts("names") == std::vector<std::string>{"a b"});
}
