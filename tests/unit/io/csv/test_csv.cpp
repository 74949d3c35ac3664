// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/csv/csv.hpp"
#include "io/csv/table.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Mode;
using physics::mt::Response;

namespace {

core::Error sites_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "s.csv", text);
  return error_of<core::FormatError>([&] { (void)csv::read_sites_csv(path); });
}

core::Error sections_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "p.csv", text);
  return error_of<core::FormatError>([&] { (void)csv::read_sections_csv(path); });
}

}  // namespace

TEST_CASE(
    "sections CSV: points become cells that reach half-way to their neighbours, empty fields and absent "
    "points have no value",
    "[csv]") {
  const TemporaryFolder folder;
  const auto sections = csv::read_sections_csv(write_text(folder, "p.csv",
                                                          "x_km,depth_m,log10_rho_smooth_model,log10_rho_b\n"
                                                          "3,100,1,2\n0,100,0.5,\n1,100,,-1\n"
                                                          "0,400,3,3\n1,400,2,0\n"));
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].name == "smooth model");
  CHECK(sections[1].name == "b");
  const physics::mesh::TensorGrid& grid = sections[0].section.earth.grid;
  const Eigen::VectorXd& rho = sections[0].section.values;
  CHECK(grid.y_edges_m() == std::vector<double>{-500.0, 500.0, 2000.0, 4000.0});
  CHECK(grid.z_edges_m() == std::vector<double>{0.0, 250.0, 550.0});
  CHECK(rho[grid.index(0, 2)] == Approx(10.0));
  CHECK(rho[grid.index(1, 1)] == Approx(100.0));
  CHECK(std::isnan(rho[grid.index(0, 1)]));
  CHECK(std::isnan(rho[grid.index(1, 2)]));
  CHECK(std::isnan(sections[1].section.values[grid.index(0, 0)]));
  CHECK(sections[1].section.values[grid.index(0, 1)] == Approx(0.1));
}

TEST_CASE(
    "sections CSV: another header, a bad number, a point given twice and a single column are format errors "
    "with file and line",
    "[csv]") {
  CHECK_THAT(sections_message("site,depth_m,log10_rho_a\n"),
             HasId("wrong_place_column", {"p.csv:1", "y_m", "y_km", "1", "\"site\""}));
  CHECK_THAT(sections_message("y_m,z,log10_rho_a\n"),
             HasId("wrong_place_column", {"depth_m", "depth_km", "2"}));
  CHECK_THAT(sections_message("y_m,depth_m\n0,1\n"), HasId("no_column", {"log10_rho_NAME"}));
  CHECK_THAT(sections_message("y_m,depth_m,rho\n0,1,2\n"),
             HasId("wrong_column", {"log10_rho_NAME", "3", "\"rho\""}));
  CHECK_THAT(sections_message("y_m,depth_m,log10_rho_a\n0,1,x\n0,2,1\n1,1,1\n"),
             HasId("not_a_number", {"p.csv:2", "log10_rho_a"}));
  CHECK_THAT(sections_message("y_m,depth_m,log10_rho_a\n0,-1,1\n"), HasId("negative_depth", {"p.csv:2"}));
  CHECK_THAT(sections_message("y_m,depth_m,log10_rho_a\n0,1,1\n1,2,1\n0,1,2\n"),
             HasId("point_twice", {"p.csv:4"}));
  CHECK_THAT(sections_message("y_m,depth_m,log10_rho_a\n0,1,1\n0,2,1\n"), HasId("too_few_points", {"1"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)csv::read_sections_csv("/none/p.csv"); }),
             HasId("no_file", {"/none/p.csv"}));
}

TEST_CASE("sites CSV: names and positions are read, a missing depth means the surface", "[csv]") {
  const TemporaryFolder folder;
  const auto sites = csv::read_sites_csv(
      write_text(folder, "s.csv", "site,y_m,z_m\r\n# a comment\r\n\"a, b\",-100.5,\r\nc, 2e3 ,-12\r\n"));
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].name == "a, b");
  CHECK(sites[0].y_m == -100.5);
  CHECK_FALSE(sites[0].z_m.has_value());
  CHECK(sites[1].z_m == -12.0);
  CHECK(csv::read_sites_csv(write_text(folder, "t.csv", "site,y_m\nx,1")).size() == 1);
}

TEST_CASE(
    "sites CSV: another header, a bad number, a doubled or nameless site and no site are format errors with "
    "file and line",
    "[csv]") {
  CHECK_THAT(sites_message("name,y\nx,1\n"), HasId("wrong_header", {"s.csv:1", "site,y_m"}));
  CHECK_THAT(sites_message("site,y_m\nx,far\n"), HasId("not_a_number", {"s.csv:2", "y_m", "\"far\""}));
  CHECK_THAT(sites_message("site,y_m\nx,1\nx,2\n"), HasId("name_twice", {"s.csv:3", "x"}));
  CHECK_THAT(sites_message("site,y_m\nx,1,5\n"), HasId("wrong_fields", {"s.csv:2", "2", "3"}));
  CHECK_THAT(sites_message("site,y_m\n,1\n"), HasId("no_name"));
  CHECK_THAT(sites_message("site,y_m\n"), HasId("no_site"));
  CHECK_THAT(error_of<core::FileError>([&] { (void)csv::read_sites_csv("/none/s.csv"); }),
             HasId("no_file", {"/none/s.csv"}));
}

TEST_CASE(
    "responses CSV: the header is the contract's, values come back to the last bit, no value is an empty "
    "field",
    "[csv]") {
  const TemporaryFolder folder;
  Response te{"a", Mode::te, 0.3, 100.0, -5.0, {0.001, 0.002}, {0.1, -0.2}};
  Response tm{"a", Mode::tm, 0.3, 100.0, -5.0, {-0.001, -0.003}, {}};
  tm.tipper = {physics::mt::not_given, physics::mt::not_given};
  tm.definition = physics::mt::Definition::slope_parallel;
  csv::write_responses_csv(folder / "r.csv", {te, tm});
  const std::string text = text_of_file(folder / "r.csv");
  CHECK(text.substr(0, text.find('\n')) ==
        "site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition");
  CHECK(text.substr(text.size() - 18) == ",,,slope_parallel\n");
  const auto back = csv::read_responses_csv(folder / "r.csv");
  REQUIRE(back.size() == 2);
  CHECK(back[0].impedance_ohm == te.impedance_ohm);
  CHECK(back[0].tipper == te.tipper);
  CHECK(back[1].mode == Mode::tm);
  CHECK(back[0].definition == physics::mt::Definition::horizontal);
  CHECK(back[1].definition == physics::mt::Definition::slope_parallel);
  CHECK(std::isnan(back[1].tipper.real()));
  CHECK(back[1].frequency_hz == Approx(0.3));
  CHECK_THAT(text, Catch::Contains(fmt::format(
                       "{}", physics::mt::phase_deg(tm.impedance_ohm))));  // not folded: third quadrant
}

TEST_CASE("section CSV: one row per cell with true depths under a hill", "[csv]") {
  const TemporaryFolder folder;
  const auto section = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid::section({0, 10, 20}, {0, 5, 15}), physics::mesh::Surface(-100.0)},
      Eigen::VectorXd::LinSpaced(4, 1, 4));
  csv::write_section_csv(folder / "s.csv", section);
  CHECK(text_of_file(folder / "s.csv") ==
        "y_left_m,y_right_m,z_top_m,z_bottom_m,depth_m,resistivity_ohm_m\n0,10,-100,-95,2.5,1\n10,20,-100,-"
        "95,2.5,2\n0,10,-95,-85,10,3\n10,"
        "20,-95,-85,10,4\n");
  CHECK_THROWS_AS(csv::write_section_csv("/proc/none/s.csv", section), core::FileError);
}

TEST_CASE("section CSV: a grid from the datum is cut at the surface and reaches up to it", "[csv]") {
  const TemporaryFolder folder;
  const physics::mesh::SurfaceLine coast({5, 15}, {-20, 7});
  const auto section = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid::section({0, 10, 20}, {0, 5, 15}, physics::mesh::DepthReference::datum),
       coast},
      Eigen::VectorXd::LinSpaced(4, 1, 4));
  csv::write_section_csv(folder / "s.csv", section);
  CHECK(text_of_file(folder / "s.csv") ==
        "y_left_m,y_right_m,z_top_m,z_bottom_m,depth_m,resistivity_ohm_m\n0,10,-20,5,12.5,1\n"
        "0,10,5,15,30,3\n10,20,7,15,4,4\n");
}

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
