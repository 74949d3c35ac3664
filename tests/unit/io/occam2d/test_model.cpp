// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/model/read.hpp"
#include "io/occam2d/model.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

/// A mesh of 4 columns and 3 rows; the first layer has two rows and three blocks, the second one and two.
struct Files {
  std::string iteration =
      "Format: OCCAMITER_FLEX\nDescription: x\nModel File: m.mod\n!Model Limits: none\nIteration: 3\n"
      "Param Count: 5\n 0.0 1.0\n 2.0 3.0 -1.0\n";
  std::string model =
      "Format: OCCAM2MTMOD_1.0\nMesh File: m.mesh\nBinding Offset: -50.0\nNum Layers: 2\n 2 3\n 1 2 1\n 1 "
      "2\n 2 "
      "2\nNO. EXCEPTIONS: 0\n";
  std::string mesh =
      "a title!\n 0 5 4 0 0 2\n 100 10 20\n 30\n 5 6\n 7\n "
      "0\n????\n????\n????\n????\n????\n????\n????\n????\n????\n"
      "????\n????\n????\n";

  [[nodiscard]] std::string write(const TemporaryFolder& folder) const {
    write_text(folder, "m.mod", model);
    write_text(folder, "m.mesh", mesh);
    return write_text(folder, "i.iter", iteration);
  }
};

core::Error refusal(const Files& files) {
  const TemporaryFolder folder;
  return error_of<core::FormatError>([&] { (void)occam2d::read_model(files.write(folder)); });
}

}  // namespace

TEST_CASE("Occam2D model: blocks of log10 resistivity on the mesh, y from the binding offset", "[occam2d]") {
  const TemporaryFolder folder;
  const std::string path = Files{}.write(folder);
  const auto model = model::read_model(path);
  const auto& grid = model.earth.grid;
  CHECK(grid.y_edges_m() == std::vector<double>{-150.0, -50.0, -40.0, -20.0, 10.0});
  CHECK(grid.z_edges_m() == std::vector<double>{0.0, 5.0, 11.0, 18.0});
  const Eigen::VectorXd resistivity = resistivity_ohm_m(model);
  const std::vector<double> expected{1, 10, 10, 100, 1, 10, 10, 100, 1000, 1000, 0.1, 0.1};
  REQUIRE(resistivity.size() == 12);
  for (Eigen::Index i = 0; i < 12; ++i)
    CHECK(resistivity[i] == Approx(expected[static_cast<std::size_t>(i)]));
  const auto file = info::describe_file(path);
  CHECK(file.status == "ok");
  CHECK(file.format == "Occam2D model");
  // The counts of the mesh may be those of widths.
  Files by_width;
  by_width.mesh = replaced(by_width.mesh, "0 5 4 0", "0 4 3 0");
  CHECK(occam2d::read_model(by_width.write(folder)).earth.grid.n_cells() == 12);
}

TEST_CASE("Occam2D model: errors name file and line", "[occam2d]") {
  const auto changed = [](std::string Files::*file, const std::string& from, const std::string& to) {
    Files files;
    files.*file = replaced(files.*file, from, to);
    return refusal(files);
  };
  CHECK_THAT(changed(&Files::iteration, "OCCAMITER_FLEX", "OCCAM"), HasId("other_format", {"i.iter:1"}));
  CHECK_THAT(changed(&Files::iteration, "Count: 5", "Count: 4"), HasId("wrong_count", {"4", "5"}));
  CHECK_THAT(changed(&Files::iteration, "-1.0", "99"), HasId("out_of_range", {"i.iter:8", "99"}));
  CHECK_THAT(changed(&Files::iteration, "-1.0", ""), HasId("cut_off"));
  CHECK_THAT(changed(&Files::iteration, "-1.0", "1 2"), HasId("too_many"));
  CHECK_THAT(changed(&Files::iteration, "Model File", "Modell"), HasId("no_entry"));
  CHECK_THAT(changed(&Files::model, "OCCAM2MTMOD_1.0", "x"), HasId("other_format", {"m.mod:1"}));
  CHECK_THAT(changed(&Files::model, " 2 2\n", " 2 3\n"), HasId("other_columns", {"4", "5"}));
  CHECK_THAT(changed(&Files::model, " 2 3\n", " 2 3 4\n"), HasId("wrong_layer", {"m.mod:5"}));
  CHECK_THAT(changed(&Files::model, " 1 2 1\n", " 1 0.5 1\n"), HasId("out_of_range", {"0.5"}));
  CHECK_THAT(changed(&Files::mesh, " 7\n", " -7\n"), HasId("out_of_range", {"m.mesh:6"}));
  CHECK_THAT(changed(&Files::mesh, " 0\n????", " 1\n????"), HasId("fixed_resistivities"));
  CHECK_THAT(changed(&Files::mesh, " 0\n????", " 0\n??Z?"), HasId("fixed_element", {"m.mesh:8", "Z", "3"}));
  CHECK_THAT(changed(&Files::mesh, " 0\n????", " 0\n???"), HasId("wrong_row", {"3", "4"}));
}
