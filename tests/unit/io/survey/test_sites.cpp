// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/survey/sites.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

core::Error sites_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "s.csv", text);
  return error_of<core::FormatError>([&] { (void)survey::read_sites_csv(path); });
}

}  // namespace

TEST_CASE("sites CSV: names and positions are read, a missing depth means the surface", "[survey]") {
  const TemporaryFolder folder;
  const auto sites = survey::read_sites_csv(
      write_text(folder, "s.csv", "site,y_m,z_m\r\n# a comment\r\n\"a, b\",-100.5,\r\nc, 2e3 ,-12\r\n"));
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].name == "a, b");
  CHECK(sites[0].y_m == -100.5);
  CHECK_FALSE(sites[0].z_m.has_value());
  CHECK(sites[1].z_m == -12.0);
  CHECK(survey::read_sites_csv(write_text(folder, "t.csv", "site,y_m\nx,1")).size() == 1);
}

TEST_CASE(
    "sites CSV: another header, a bad number, a doubled or nameless site and no site are format errors with "
    "file and line",
    "[survey]") {
  CHECK_THAT(sites_message("name,y\nx,1\n"), HasId("wrong_header", {"s.csv:1", "site,y_m"}));
  CHECK_THAT(sites_message("site,y_m\nx,far\n"), HasId("not_a_number", {"s.csv:2", "y_m", "\"far\""}));
  CHECK_THAT(sites_message("site,y_m\nx,1\nx,2\n"), HasId("name_twice", {"s.csv:3", "x"}));
  CHECK_THAT(sites_message("site,y_m\na,0\nc,5\nb,0.0001\n"),
             HasId("same_place", {"s.csv:4", "a stands at y = 0 m", "b at y = 0.0001 m"}));
  CHECK_THAT(sites_message("site,y_m\na,1\nb,0.9995\n"), HasId("same_place", {"s.csv:3", "a", "b"}));
  CHECK_THAT(sites_message("site,y_m\nx,1,5\n"), HasId("wrong_fields", {"s.csv:2", "2", "3"}));
  CHECK_THAT(sites_message("site,y_m\n,1\n"), HasId("no_name"));
  CHECK_THAT(sites_message("site,y_m\n"), HasId("no_site"));
  CHECK_THAT(error_of<core::FileError>([&] { (void)survey::read_sites_csv("/none/s.csv"); }),
             HasId("no_file", {"/none/s.csv"}));
}

TEST_CASE("sites CSV: names become UTF-8 and are bounded, places lie on Earth", "[survey]") {
  const TemporaryFolder folder;
  const auto sites = survey::read_sites_csv(write_text(folder, "s.csv", "site,y_m\nS\xE9\x1B,1\n"));
  CHECK(sites.at(0).name == "Sé");
  CHECK_THAT(sites_message("site,y_m\na,1\n" + std::string(200, 'n') + ",2\n"),
             HasId("long_name", {"s.csv:3", "128", "200"}));
  CHECK_THAT(sites_message("site,y_m\na,1e300\n"), HasId("out_of_range", {"s.csv:2", "1e+08", "1e+300"}));
  CHECK_THAT(sites_message("site,y_m,z_m\na,1,-1e300\n"), HasId("out_of_range", {"s.csv:2", "-1e+300"}));
}

TEST_CASE("forward sites: sites on a map are refused for a section, with a remedy", "[sites]") {
  const auto section = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid::section({-1e3, 0.0, 1e3}, {0.0, 1e3})}, Eigen::Vector2d(1.0, 2.0));
  CHECK_THAT(error_of<core::ConfigError>([&] {
               (void)survey::read_forward_sites(source_path("data/modem_block2_3d/de.dat"), {}, section,
                                                physics::mt::OffSurface::refuse);
             }),
             HasId("sites_on_a_map", {"de.dat", "site,y_m"}));
}

TEST_CASE("sites CSV: on a map x and y count, and sites may share one of them", "[survey]") {
  const TemporaryFolder folder;
  const auto sites =
      survey::read_sites_csv(write_text(folder, "s.csv", "site,x_m,y_m,z_m\na,1,5,\nb,2,5,-3\n"));
  REQUIRE(sites.size() == 2);
  CHECK(sites[1].x_m == 2.0);
  CHECK(sites[1].z_m == -3.0);
  CHECK_THAT(sites_message("site,x_m,y_m\na,1,5\nb,1.0001,5\n"),
             HasId("same_place", {"s.csv:3", "x = 1 m, y = 5 m"}));
  CHECK_THAT(sites_message("site,x_m\na,1\n"), HasId("wrong_header", {"site,x_m,y_m"}));
}

TEST_CASE("forward sites: a volume takes sites on a map with all elements, and refuses a line", "[sites]") {
  const TemporaryFolder folder;
  const auto volume = physics::mesh::resistivity_model(
      {physics::mesh::TensorGrid(physics::mesh::Edges{{-1e3, 1e3}, {-1e3, 1e3}, {0.0, 1e3}})},
      Eigen::VectorXd::Constant(1, 100.0));
  const auto refuse = physics::mt::OffSurface::refuse;
  const auto sites = survey::read_forward_sites(write_text(folder, "s.csv", "site,x_m,y_m\na,10,20\n"),
                                                {1.0, 10.0}, volume, refuse);
  CHECK(sites.survey.keys.size() == 2 * 12);
  CHECK(sites.survey.stations[0].x_m == 10.0);
  CHECK(survey::read_forward_sites(source_path("data/modem_block2_3d/de.dat"), {}, volume, refuse)
            .survey.stations.size() == 198);
  CHECK_THAT(error_of<core::ConfigError>([&] {
               (void)survey::read_forward_sites(write_text(folder, "l.csv", "site,y_m\na,10\n"), {1.0},
                                                volume, refuse);
             }),
             HasId("sites_on_a_line", {"l.csv", "site,x_m,y_m"}));
}
