// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/model/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

const std::string head =
    "GOCAD SGrid 1\nHEADER {\nname:other\nascii:on\n}\nGOCAD_ORIGINAL_COORDINATE_SYSTEM\nNAME Default\n"
    "AXIS_NAME \"X\" \"Y\" \"Z\"\nZPOSITIVE Depth\nEND_ORIGINAL_COORDINATE_SYSTEM\nAXIS_N 3 2 2\n"
    "PROP_ALIGNMENT CELLS\nASCII_DATA_FILE other__ascii@@\nPROPERTY 1 density\nPROPERTY 2 \"Resistivity\"\n"
    "PROP_NO_DATA_VALUE 1 -999\nEND\n";

/// I counts from north to south, J from west to east and K upwards, as some programs have it.
const std::string data =
    "* X Y Z density Resistivity I J K\n"
    "0 30 50 2.7 10 0 0 0\n0 20 50 2.7 20 1 0 0\n0 0 50 -999 -999 2 0 0\n"
    "7 30 50 -999 -999 0 1 0\n7 20 50 -999 -999 1 1 0\n7 0 50 -999 -999 2 1 0\n"
    "0 30 0 -999 -999 0 0 1\n0 20 0 -999 -999 1 0 1\n0 0 0 -999 -999 2 0 1\n"
    "7 30 0 -999 -999 0 1 1\n7 20 0 -999 -999 1 1 1\n7 0 0 -999 -999 2 1 1\n";

physics::mesh::Model model_of(const std::string& first, const std::string& second) {
  const TemporaryFolder folder;
  write_text(folder, "other__ascii@@", second);
  return model::read_model(write_text(folder, "m.sg", first));
}

core::Error refusal(const std::string& first, const std::string& second) {
  return error_of<core::FormatError>([&] { static_cast<void>(model_of(first, second)); });
}

}  // namespace

TEST_CASE("SGrid: axes of another program are turned to x north, y east and z down", "[gocad]") {
  const auto model = model_of(head, data);
  const auto& grid = model.earth.grid;
  CHECK(grid.edges().x_m == std::vector<double>{0.0, 20.0, 30.0});
  CHECK(grid.y_edges_m() == std::vector<double>{0.0, 7.0});
  CHECK(grid.z_edges_m() == std::vector<double>{0.0, 50.0});
  CHECK(model.values == Eigen::Vector2d(20.0, 10.0));
}

TEST_CASE("SGrid: what is no tensor grid of cells is refused with its line", "[gocad]") {
  CHECK_THAT(refusal(replaced(head, "CELLS", "POINTS"), data), HasId("other_alignment", {"m.sg:12"}));
  CHECK_THAT(refusal(replaced(head, "ASCII_DATA_FILE other", "POINTS_FILE other"), data),
             HasId("binary", {"m.sg:13"}));
  CHECK_THAT(refusal(replaced(head, "\"Resistivity\"", "velocity"), data), HasId("no_entry", {"PROPERTY"}));
  CHECK_THAT(refusal(replaced(head, "AXIS_N 3", "AXIS_N 1"), data), HasId("not_in_range", {"m.sg:11"}));
  CHECK_THAT(refusal(head, data.substr(0, data.rfind("7 0"))), HasId("missing_nodes", {"12", "11"}));
  CHECK_THAT(refusal(head, replaced(data, "2.7 10 0", "2.7 0 0")), HasId("resistivity_out_of_range", {"0"}));
  CHECK_THAT(refusal(head, replaced(data, "2.7 10 0 0 0", "2.7 10 0 0")),
             HasId("short_row", {"other__ascii@@:2"}));
  CHECK_THAT(refusal(head, replaced(data, "7 20 50", "7 21 50")), HasId("not_a_grid", {"Y", "21"}));
  CHECK_THAT(refusal(head, replaced(data, "7 20 50", "7 20 51")), HasId("not_draped", {}));
}
