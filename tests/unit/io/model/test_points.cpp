// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/points.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

core::Error sections_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "p.csv", text);
  return error_of<core::FormatError>([&] { (void)model::read_sections_csv(path); });
}

}  // namespace

TEST_CASE(
    "sections CSV: points become cells that reach half-way to their neighbours, empty fields and absent "
    "points have no value",
    "[model]") {
  const TemporaryFolder folder;
  const auto sections =
      model::read_sections_csv(write_text(folder, "p.csv",
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
    "[model]") {
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
  CHECK_THAT(error_of<core::FileError>([&] { (void)model::read_sections_csv("/none/p.csv"); }),
             HasId("no_file", {"/none/p.csv"}));
}

TEST_CASE("section CSV: one row per cell with true depths under a hill", "[model]") {
  const TemporaryFolder folder;
  const auto section = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid::section({0, 10, 20}, {0, 5, 15}), physics::mesh::Surface(-100.0)},
      Eigen::VectorXd::LinSpaced(4, 1, 4));
  model::write_section_csv(folder / "s.csv", section);
  CHECK(text_of_file(folder / "s.csv") ==
        "y_left_m,y_right_m,z_top_m,z_bottom_m,depth_m,resistivity_ohm_m\n0,10,-100,-95,2.5,1\n10,20,-100,-"
        "95,2.5,2\n0,10,-95,-85,10,3\n10,"
        "20,-95,-85,10,4\n");
  CHECK_THROWS_AS(model::write_section_csv("/proc/none/s.csv", section), core::FileError);
}

TEST_CASE("section CSV: a grid from the datum is cut at the surface and reaches up to it", "[model]") {
  const TemporaryFolder folder;
  const physics::mesh::SurfaceLine coast({5, 15}, {-20, 7});
  const auto section = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid::section({0, 10, 20}, {0, 5, 15}, physics::mesh::DepthReference::datum),
       coast},
      Eigen::VectorXd::LinSpaced(4, 1, 4));
  model::write_section_csv(folder / "s.csv", section);
  CHECK(text_of_file(folder / "s.csv") ==
        "y_left_m,y_right_m,z_top_m,z_bottom_m,depth_m,resistivity_ohm_m\n0,10,-20,5,12.5,1\n"
        "0,10,5,15,30,3\n10,20,7,15,4,4\n");
}
