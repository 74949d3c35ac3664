// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/vtk/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/output_support.hpp"

#include <vtkCell.h>
#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <cmath>

using namespace lodestone;
using Catch::Matchers::Contains;
using test::OutputFolder;
namespace mesh = physics::mesh;

namespace {

vtkSmartPointer<vtkUnstructuredGrid> read_vtu(const std::filesystem::path& path) {
  const vtkNew<vtkXMLUnstructuredGridReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path) {
  const vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

double value(vtkDataSetAttributes* data, const char* name, vtkIdType at) {
  REQUIRE(data->GetArray(name) != nullptr);
  return data->GetArray(name)->GetTuple1(at);
}

mesh::Section2D draped_section() {
  Eigen::VectorXd resistivity(6);
  resistivity << 1, 10, 100, 1000, 10000, 100000;
  return {mesh::TensorGrid::section({0, 100, 200, 300}, {0, 10, 30}), resistivity,
          mesh::SurfaceLine({0, 100, 200, 300}, {0, -50, -50, 0})};
}

}  // namespace

TEST_CASE("vtk: a draped section follows the surface, z upwards, with its values") {
  const OutputFolder folder;
  io::vtk::write_section_vtu(folder / "s.vtu", draped_section(), io::vtk::profile_frame(),
                             {{"twice", 2.0 * draped_section().resistivity_ohm_m}});
  const auto grid = read_vtu(folder / "s.vtu");
  REQUIRE(grid->GetNumberOfCells() == 6);
  CHECK(value(grid->GetCellData(), "resistivity_ohm_m", 4) == 10000.0);
  CHECK(value(grid->GetCellData(), "log10_resistivity", 4) == Approx(4.0));
  CHECK(value(grid->GetCellData(), "twice", 5) == 200000.0);
  CHECK(value(grid->GetCellData(), "cell_index", 5) == 5.0);
  const double* bounds = grid->GetBounds();
  CHECK(bounds[0] == 0.0);
  CHECK(bounds[1] == 300.0);
  CHECK(bounds[2] == 0.0);
  CHECK(bounds[3] == 0.0);
  CHECK(bounds[4] == -30.0);
  CHECK(bounds[5] == 50.0);
  double cell[6];
  grid->GetCellBounds(1, cell);
  CHECK(cell[4] == 40.0);
  CHECK(cell[5] == 50.0);
}

TEST_CASE("vtk: a section measured from the datum is cut at the surface and reaches up to it") {
  const OutputFolder folder;
  mesh::Section2D section = draped_section();
  section.grid = mesh::TensorGrid::section({0, 100, 200, 300}, {0, 10, 30}, mesh::DepthReference::datum);
  section.surface = mesh::SurfaceLine({0, 100, 200, 300}, {-20, -20, 15, 15});
  io::vtk::write_section_vtu(folder / "s.vtu", section);
  const auto grid = read_vtu(folder / "s.vtu");
  REQUIRE(grid->GetNumberOfCells() == 5);  // the top cell of the last column is air
  CHECK(grid->GetBounds()[5] == 20.0);
  double cell[6];
  grid->GetCellBounds(4, cell);
  CHECK(value(grid->GetCellData(), "cell_index", 4) == 5.0);
  CHECK(cell[5] == -15.0);
  CHECK(cell[4] == -30.0);
}

TEST_CASE("vtk: the sea has cells between its level and its floor, up to the coast") {
  const OutputFolder folder;
  mesh::Section2D section = draped_section();
  section.surface = mesh::SurfaceLine(
      {0, 100, 200, 300}, {40, 40, -40, -40});  // water over the first column and half of the second
  section.sea = mesh::Sea{.level_m = 0.0, .resistivity_ohm_m = 0.1};
  io::vtk::write_section_vtu(
      folder / "s.vtu", section, io::vtk::profile_frame(),
      {{"start", section.resistivity_ohm_m, 7.0}, {"other", section.resistivity_ohm_m}});
  const auto grid = read_vtu(folder / "s.vtu");
  REQUIRE(grid->GetNumberOfCells() == 8);
  for (vtkIdType cell = 0; cell < 6; ++cell) CHECK(value(grid->GetCellData(), "sea", cell) == 0.0);
  for (vtkIdType cell = 6; cell < 8; ++cell) {
    CHECK(value(grid->GetCellData(), "sea", cell) == 1.0);
    CHECK(value(grid->GetCellData(), "resistivity_ohm_m", cell) == 0.1);
    CHECK(value(grid->GetCellData(), "log10_resistivity", cell) == Approx(-1.0));
    CHECK(value(grid->GetCellData(), "cell_index", cell) == -1.0);
    CHECK(value(grid->GetCellData(), "start", cell) == 7.0);
    CHECK(std::isnan(value(grid->GetCellData(), "other", cell)));
  }
  CHECK(value(grid->GetCellData(), "resistivity_ohm_m", 5) == 100000.0);
  double water[6];
  grid->GetCellBounds(6, water);
  CHECK(water[0] == 0.0);
  CHECK(water[1] == 100.0);
  CHECK(water[4] == -40.0);
  CHECK(water[5] == 0.0);
  CHECK(grid->GetCell(6)->GetNumberOfPoints() == 4);
  grid->GetCellBounds(7, water);
  CHECK(water[0] == 100.0);
  CHECK(water[1] == Approx(150.0));  // the coast
  CHECK(water[4] == -40.0);
  CHECK(grid->GetCell(7)->GetNumberOfPoints() == 3);
}

TEST_CASE("vtk: without a sea no array speaks of one, a series and a result draw theirs") {
  const OutputFolder folder;
  const mesh::Section2D section = draped_section();
  io::vtk::write_section_vtu(folder / "dry.vtu", section);
  CHECK(read_vtu(folder / "dry.vtu")->GetCellData()->GetArray("sea") == nullptr);
  const mesh::Sea sea{.level_m = -60.0, .resistivity_ohm_m = 0.3};  // above the whole section
  io::vtk::SectionSeries series(folder / "vtk", "model", section.grid, section.surface, sea);
  series.add(0, section.resistivity_ohm_m.array().log10());
  CHECK(read_vtu(folder / "vtk" / "model_0000.vtu")->GetNumberOfCells() == 6 + 3);
  io::run::InversionResult result = test::synthetic_result(
      {.n_stations = 3, .n_frequencies = 4, .n_columns = 10, .n_rows = 5, .hill_m = 800.0});
  result.sea = mesh::Sea{.level_m = -900.0, .resistivity_ohm_m = 0.3};
  io::vtk::write_result_vtk(folder.path(), result);
  const auto written = read_vtu(folder / "section.vtu");
  REQUIRE(written->GetNumberOfCells() == 50 + 10);
  CHECK(value(written->GetCellData(), "sea", 50) == 1.0);
  CHECK(value(written->GetCellData(), "start_log10_resistivity", 50) == Approx(std::log10(0.3)));
}

TEST_CASE("vtk: real-world coordinates follow azimuth, origin and elevation of the datum") {
  const OutputFolder folder;
  io::vtk::write_section_vtu(folder / "s.vtu", draped_section(),
                             io::vtk::straight_frame({.north_m = 1000.0, .east_m = 500.0}, 90.0, 1200.0));
  const auto grid = read_vtu(folder / "s.vtu");
  const double* bounds = grid->GetBounds();
  CHECK(bounds[0] == Approx(500.0));
  CHECK(bounds[1] == Approx(800.0));
  CHECK(bounds[2] == Approx(1000.0));
  CHECK(bounds[5] == Approx(1250.0));
}

TEST_CASE("vtk: a polyline frame passes through its points and goes on straight beyond") {
  const io::vtk::VtkFrame frame =
      io::vtk::polyline_frame({0.0, 10.0, 20.0}, {{0.0, 0.0}, {10.0, 0.0}, {10.0, 10.0}});
  CHECK(frame.plane(5.0).north_m == Approx(5.0));
  CHECK(frame.plane(15.0).east_m == Approx(5.0));
  CHECK(frame.plane(-10.0).north_m == Approx(-10.0));
  CHECK(frame.plane(30.0).east_m == Approx(20.0));
  CHECK_THROWS_AS(io::vtk::polyline_frame({0.0, 0.0}, {{}, {}}), core::InvalidArgument);
  CHECK_THROWS_AS(io::vtk::polyline_frame({0.0, 1.0}, {{}}), core::ShapeError);
}

TEST_CASE("vtk: a series lists the iterations up to the last, also after a resume") {
  const OutputFolder folder;
  const mesh::Section2D section = draped_section();
  const Eigen::VectorXd model = section.resistivity_ohm_m.array().log10();
  for (const auto& iterations : {std::vector<int>{0, 1, 2}, std::vector<int>{1}}) {
    io::vtk::SectionSeries series(folder / "vtk", "model", section.grid, section.surface);
    for (const int iteration : iterations) {
      series.add(iteration, model.array() + iteration);
    }
  }
  const std::string pvd = test::slurp(folder / "vtk" / "model.pvd");
  CHECK_THAT(pvd, Contains("timestep=\"1\"") && Contains("model_0000.vtu") && !Contains("model_0002.vtu"));
  const auto grid = read_vtu(folder / "vtk" / "model_0001.vtu");
  CHECK(value(grid->GetCellData(), "log10_resistivity", 2) == Approx(3.0));
}

TEST_CASE("vtk: stations stand on the surface with their residuals") {
  const OutputFolder folder;
  io::run::InversionResult result = test::synthetic_result(
      {.n_stations = 3, .n_frequencies = 4, .n_columns = 10, .n_rows = 5, .hill_m = 800.0});
  result.profile.datum_elevation_m = 100.0;
  for (const auto& path : io::vtk::write_result_vtk(folder.path(), result)) {
    CHECK(std::filesystem::exists(path));
  }
  const auto stations = read_vtp(folder / "stations.vtp");
  REQUIRE(stations->GetNumberOfPoints() == 3);
  CHECK(stations->GetPoint(1)[0] == Approx(result.data.survey.stations[1].y_m));
  CHECK(stations->GetPoint(1)[2] == Approx(-result.surface.z_at(result.data.survey.stations[1].y_m)));
  CHECK(vtkStringArray::SafeDownCast(stations->GetPointData()->GetAbstractArray("station"))->GetValue(2) ==
        "kim440");
  CHECK(value(stations->GetPointData(), "rms", 0) > 0.3);
  CHECK(value(stations->GetPointData(), "rms", 0) < 3.0);
  CHECK(value(stations->GetPointData(), "n_data", 0) <= 16.0);
  CHECK(value(stations->GetPointData(), "rms_phase_xy", 1) > 0.0);
  const auto world = read_vtp(folder / "stations_world.vtp");
  CHECK(world->GetPoint(2)[0] == Approx(result.profile.stations[2].east_m));
  CHECK(world->GetPoint(2)[1] == Approx(result.profile.stations[2].north_m));
}

TEST_CASE("vtk: a full disk is a file error and leaves nothing") {
  const OutputFolder folder;
  const test::FullDisk full(100);
  CHECK_THROWS_AS(io::vtk::write_section_vtu(folder / "s.vtu", draped_section()), core::FileError);
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("vtk: wrong sizes and missing folders are told") {
  const OutputFolder folder;
  mesh::Section2D section = draped_section();
  CHECK_THROWS_WITH(
      io::vtk::write_section_vtu(folder / "s.vtu", section, {}, {{"extra", Eigen::VectorXd(2)}}),
      Contains("expected 6 values of extra, got 2"));
  CHECK_THROWS_AS(io::vtk::write_section_vtu(folder / "none" / "s.vtu", section), core::FileError);
  CHECK_THROWS_AS(io::vtk::write_stations_vtp(folder / "s.vtp", {{"a"}, {}, {}, {}}), core::ShapeError);
}
