// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/report/reach.hpp"
#include "io/run/paraview_view.hpp"
#include "io/vtk/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

using namespace lodestone;
using Catch::Matchers::Contains;
using test::OutputFolder;

TEST_CASE("run: the view of a section states its files, colours and directions, and writes what is missing") {
  const OutputFolder folder;
  inversion::Outcome outcome = test::synthetic_result({.n_columns = 12, .n_rows = 8});
  outcome.about.title = "a \"quoted\" \\ title\n";
  const io::run::RunFolder run(folder.path());
  std::filesystem::create_directories(folder / "views");
  io::run::write_paraview_view(run, outcome, folder / "views/a.py");
  CHECK(std::filesystem::exists(folder / "vtk/section_world.vtu"));
  const std::string script = test::slurp(folder / "views/a.py");
  CHECK_THAT(script, Contains("TITLE = \"a \\\"quoted\\\" \\\\ title\\x0a, rms 1.20\""));
  CHECK_THAT(script, Contains("MODEL = \"../vtk/section_world.vtu\""));
  CHECK_THAT(script, Contains("SITES = \"../vtk/stations_world.vtp\""));
  CHECK_THAT(script, Contains("ARRAY = \"log10_resistivity\""));
  CHECK_THAT(script, Contains("COLOURS = [\"7d0a25\", "));
  CHECK_THAT(script, Contains("SLICES = None") && Contains("\"Elevation (km)\"]"));
  const double depth_m = io::report::shown_part(outcome).max_depth_m;  // as in the report
  const double bottom_m = std::stod(script.substr(script.find("BOTTOM = ") + 9));
  CHECK(bottom_m == Approx(io::vtk::place_in_file(outcome.frame, {}).elevation_m - depth_m));
  CHECK_THAT(script, Contains("from paraview import simple"));
}

TEST_CASE("run: the view of a volume cuts it where the report does, and layers have none") {
  const OutputFolder folder;
  const io::run::RunFolder run(folder.path());
  io::run::write_paraview_view(run, test::synthetic_volume(), run.view());
  const std::string script = test::slurp(run.view());
  CHECK_THAT(script, Contains("MODEL = \"vtk/model.vtu\""));
  CHECK_THAT(script, Contains("\"along_y_at_x\": "));
  CHECK_THAT(script, Contains("X_AXIS = (0, 1)"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { io::run::write_paraview_view(run, test::layers_of_density(), folder / "layers.py"); }),
             tests::HasId("layers"));
  CHECK_FALSE(std::filesystem::exists(folder / "layers.py"));
}
