// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/vtk/run.hpp"
#include "io/vtk/series.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <vtkCell.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
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

mesh::Model draped_section() {
  Eigen::VectorXd resistivity(6);
  resistivity << 1, 10, 100, 1000, 10000, 100000;
  return mesh::resistivity_model({mesh::TensorGrid::section({0, 100, 200, 300}, {0, 10, 30}),
                                  mesh::SurfaceLine({0, 100, 200, 300}, {0, -50, -50, 0})},
                                 resistivity);
}

}  // namespace

TEST_CASE("vtk: a draped section follows the surface, z upwards, with its values") {
  const OutputFolder folder;
  io::vtk::write_model_vtu(folder / "s.vtu", draped_section(), {},
                           {{"twice", 2.0 * draped_section().values}});
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
  mesh::Model section = draped_section();
  section.earth.grid =
      mesh::TensorGrid::section({0, 100, 200, 300}, {0, 10, 30}, mesh::DepthReference::datum);
  section.earth.surface = mesh::SurfaceLine({0, 100, 200, 300}, {-20, -20, 15, 15});
  io::vtk::write_model_vtu(folder / "s.vtu", section);
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
  mesh::Model section = draped_section();
  section.earth.surface = mesh::SurfaceLine(
      {0, 100, 200, 300}, {40, 40, -40, -40});  // water over the first column and half of the second
  section.earth.sea = mesh::Sea{.level_m = 0.0, .resistivity_ohm_m = 0.1};
  io::vtk::write_model_vtu(folder / "s.vtu", section, {},
                           {{"start", section.values, 7.0}, {"other", section.values}});
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
  mesh::Model section = draped_section();
  io::vtk::write_model_vtu(folder / "dry.vtu", section);
  CHECK(read_vtu(folder / "dry.vtu")->GetCellData()->GetArray("sea") == nullptr);
  section.earth.sea = {.level_m = -60.0, .resistivity_ohm_m = 0.3};  // above the whole section
  io::vtk::ModelSeries series(MPI_COMM_SELF, folder / "vtk", "model", section.earth);
  series.add(0, section.values.array().log10());
  CHECK(read_vtu(folder / "vtk" / "model_0000.vtu")->GetNumberOfCells() == 6 + 3);
  inversion::Outcome result = test::synthetic_result(
      {.n_stations = 3, .n_frequencies = 4, .n_columns = 10, .n_rows = 5, .hill_m = 800.0});
  result.model.earth.sea = mesh::Sea{.level_m = -900.0, .resistivity_ohm_m = 0.3};
  io::vtk::write_result_vtk(MPI_COMM_SELF, folder.path(), result);
  const auto written = read_vtu(folder / "section.vtu");
  REQUIRE(written->GetNumberOfCells() == 50 + 10);
  CHECK(value(written->GetCellData(), "sea", 50) == 1.0);
  CHECK(value(written->GetCellData(), "start_log10_resistivity", 50) == Approx(std::log10(0.3)));
}

TEST_CASE("vtk: real-world coordinates follow azimuth, origin and elevation of the datum") {
  const OutputFolder folder;
  io::vtk::write_model_vtu(folder / "s.vtu", draped_section(),
                           {.projection = "local",
                            .origin_north_m = 1000.0,
                            .origin_east_m = 500.0,
                            .azimuth_deg = 90.0,
                            .elevation_m = 1200.0});
  const auto grid = read_vtu(folder / "s.vtu");
  const double* bounds = grid->GetBounds();
  CHECK(bounds[0] == Approx(500.0));
  CHECK(bounds[1] == Approx(800.0));
  CHECK(bounds[2] == Approx(1000.0));
  CHECK(bounds[5] == Approx(1250.0));
}

TEST_CASE("vtk: along a bent line the section is bent, one of a single bend is refused") {
  const OutputFolder folder;
  mesh::Frame frame{.projection = "local", .bends = {{0, 0, 0}, {100, 100, 0}, {200, 100, 100}}};
  io::vtk::write_model_vtu(folder / "s.vtu", draped_section(), frame);
  const auto grid = read_vtu(folder / "s.vtu");
  const double* bounds = grid->GetBounds();
  CHECK(bounds[0] == Approx(0.0).margin(1e-12));
  CHECK(bounds[1] == Approx(200.0));
  CHECK(bounds[3] == Approx(100.0));
  frame.bends.resize(1);
  CHECK_THROWS_AS(io::vtk::write_model_vtu(folder / "s.vtu", draped_section(), frame), core::InvalidArgument);
}

namespace {

/// The determinant of the edges from the first corner of a cell to three others.
double handedness(vtkUnstructuredGrid& grid, vtkIdType cell, vtkIdType a, vtkIdType b, vtkIdType c) {
  Eigen::Matrix3d edges;
  const auto at = [&](vtkIdType corner) {
    return Eigen::Vector3d(grid.GetCell(cell)->GetPoints()->GetPoint(corner));
  };
  edges << at(a) - at(0), at(b) - at(0), at(c) - at(0);
  return edges.determinant();
}

}  // namespace

TEST_CASE("vtk: layers are lines, a volume hexahedra, water in the corner of a column a wedge") {
  const OutputFolder folder;
  const mesh::Earth layers{mesh::TensorGrid::layers(10.0, 2.0, 3)};
  io::vtk::write_model_vtu(folder / "1d.vtu", mesh::resistivity_model(layers, Eigen::Vector3d(1, 2, 3)));
  CHECK(read_vtu(folder / "1d.vtu")->GetCellType(2) == VTK_LINE);
  Eigen::Matrix2d z;
  z << -2, 1, 0, 3;
  const mesh::Earth volume{mesh::TensorGrid(mesh::Edges{{0, 10, 20}, {0, 10, 20, 30}, {0, 5, 10}}),
                           mesh::Surface({0, 20}, {0, 30}, z), mesh::Sea{0.9, 0.3}};
  const mesh::Model model{
      volume, {"density", "kg/m3", mesh::Scale::linear}, Eigen::VectorXd::LinSpaced(12, 0, 11)};
  io::vtk::write_model_vtu(folder / "3d.vtu", model);
  const auto grid = read_vtu(folder / "3d.vtu");
  REQUIRE(grid->GetNumberOfCells() > 12);
  for (vtkIdType cell = 0; cell < 12; ++cell) {
    CHECK(grid->GetCellType(cell) == VTK_HEXAHEDRON);
    CHECK(value(grid->GetCellData(), "density", cell) == static_cast<double>(cell));
    CHECK(handedness(*grid, cell, 1, 3, 4) > 0.0);
  }
  double bounds[6];
  grid->GetCellBounds(1, bounds);  // x from 10 to 20 m, which ParaView shows as its y
  CHECK((bounds[0] == 0.0 && bounds[1] == 10.0 && bounds[2] == 10.0 && bounds[3] == 20.0));
  CHECK(bounds[5] == Approx(1.0));  // z upwards: the surface at x = 10 m, y = 0 lies at −1 m
  int n_wedges = 0;
  for (vtkIdType cell = 12; cell < grid->GetNumberOfCells(); ++cell) {
    CHECK(std::isnan(value(grid->GetCellData(), "density", cell)));
    if (grid->GetCellType(cell) != VTK_WEDGE) continue;
    ++n_wedges;
    double sum = 0.0;  // of the heights over the first triangle, which points outwards; 0 at the coast
    for (const vtkIdType corner : {3, 4, 5}) sum += handedness(*grid, cell, 1, 2, corner);
    CHECK(sum < 0.0);
  }
  CHECK(n_wedges > 0);
}

TEST_CASE("vtk: a series lists the iterations up to the last, also after a resume") {
  const OutputFolder folder;
  const mesh::Model section = draped_section();
  const Eigen::VectorXd model = section.values.array().log10();
  for (const auto& iterations : {std::vector<int>{0, 1, 2}, std::vector<int>{1}}) {
    io::vtk::ModelSeries series(MPI_COMM_SELF, folder / "vtk", "model", section.earth);
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
  inversion::Outcome result = test::synthetic_result(
      {.n_stations = 3, .n_frequencies = 4, .n_columns = 10, .n_rows = 5, .hill_m = 800.0});
  result.frame.elevation_m = 100.0;
  for (const auto& path : io::vtk::write_result_vtk(MPI_COMM_SELF, folder.path(), result)) {
    CHECK(std::filesystem::exists(path));
  }
  const auto stations = read_vtp(folder / "stations.vtp");
  REQUIRE(stations->GetNumberOfPoints() == 3);
  CHECK(stations->GetPoint(1)[0] == Approx(result.sites.numbers("y_m")[1]));
  CHECK(stations->GetPoint(1)[2] ==
        Approx(-result.model.earth.surface.z_at(0.0, result.sites.numbers("y_m")[1])));
  CHECK(vtkStringArray::SafeDownCast(stations->GetPointData()->GetAbstractArray("station"))->GetValue(2) ==
        "kim440");
  CHECK(value(stations->GetPointData(), "rms", 0) > 0.3);
  CHECK(value(stations->GetPointData(), "rms", 0) < 3.0);
  CHECK(value(stations->GetPointData(), "n_data", 0) <= 16.0);
  CHECK(value(stations->GetPointData(), "rms_phase_xy", 1) > 0.0);
  const auto world = read_vtp(folder / "stations_world.vtp");
  const mesh::MapPlace place = mesh::on_map(result.frame, {0.0, result.sites.numbers("y_m")[2], 0.0});
  CHECK(world->GetPoint(2)[0] == Approx(place.east_m));
  CHECK(world->GetPoint(2)[1] == Approx(place.north_m));
}

TEST_CASE("vtk: layers of another property are a model without stations") {
  const OutputFolder folder;
  const inversion::Outcome outcome = test::layers_of_density();
  CHECK(io::vtk::write_result_vtk(MPI_COMM_SELF, folder.path(), outcome) ==
        std::vector<std::filesystem::path>{folder / "model.vtu"});
  const auto grid = read_vtu(folder / "model.vtu");
  CHECK(value(grid->GetCellData(), "density", 4) == 2900.0);
  CHECK(value(grid->GetCellData(), "start_density", 4) == 2500.0);
}

TEST_CASE("vtk: a full disk is a file error and leaves nothing") {
  const OutputFolder folder;
  const test::FullDisk full(100);
  CHECK_THROWS_AS(io::vtk::write_model_vtu(folder / "s.vtu", draped_section()), core::FileError);
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("vtk: wrong sizes and missing folders are told") {
  const OutputFolder folder;
  mesh::Model section = draped_section();
  CHECK_THAT(tests::error_of<core::ShapeError>([&] {
               io::vtk::write_model_vtu(folder / "s.vtu", section, {}, {{"extra", Eigen::VectorXd(2)}});
             }),
             tests::HasId("wrong_values", {"6", "extra", "2"}));
  CHECK_THROWS_AS(io::vtk::write_model_vtu(folder / "none" / "s.vtu", section), core::FileError);
  CHECK_THROWS_AS(io::vtk::write_stations_vtp(folder / "s.vtp", {{"a"}, {}, {}, {}}), core::ShapeError);
}
