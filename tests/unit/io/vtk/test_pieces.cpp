// SPDX-License-Identifier: Apache-2.0
// A volume in pieces is the volume in one file.
#include "io/vtk/pieces.hpp"
#include "io/vtk/series.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/output_support.hpp"

#include <vtkCell.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkSmartPointer.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <bit>
#include <cstdint>

using namespace lodestone;
using Catch::Matchers::Contains;
using test::OutputFolder;
namespace mesh = physics::mesh;

namespace {

template <class Reader>
vtkSmartPointer<vtkUnstructuredGrid> read(const std::filesystem::path& path) {
  const vtkNew<Reader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

/// Returns 3 × 4 × 2 cells under an uneven surface, the lower part of which is under water.
mesh::Model volume() {
  Eigen::Matrix2d z;
  z << -2, 1, 0, 3;
  const mesh::Earth earth{mesh::TensorGrid(mesh::Edges{{0, 10, 20, 30}, {0, 10, 20, 30, 40}, {0, 5, 10}}),
                          mesh::Surface({0, 30}, {0, 40}, z), mesh::Sea{0.9, 0.3}};
  return mesh::resistivity_model(earth, Eigen::VectorXd::LinSpaced(24, 1.0, 100.0));
}

/// A drawn cell: its type, the places of its corners and the bits of its values in all arrays.
struct DrawnCell {
  int type = 0;
  std::vector<double> corners;
  std::vector<std::uint64_t> values;
  bool operator==(const DrawnCell&) const = default;
};

std::vector<DrawnCell> cells_of(vtkUnstructuredGrid& grid) {
  std::vector<DrawnCell> cells;
  for (vtkIdType k = 0; k < grid.GetNumberOfCells(); ++k) {
    DrawnCell cell{.type = grid.GetCellType(k), .corners = {}, .values = {}};
    vtkPoints& places = *grid.GetCell(k)->GetPoints();
    for (vtkIdType i = 0; i < places.GetNumberOfPoints(); ++i)
      cell.corners.insert(cell.corners.end(), places.GetPoint(i), places.GetPoint(i) + 3);
    for (int i = 0; i < grid.GetCellData()->GetNumberOfArrays(); ++i)  // some are NaN in water
      cell.values.push_back(std::bit_cast<std::uint64_t>(grid.GetCellData()->GetArray(i)->GetTuple1(k)));
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::vector<std::string> names_of(vtkUnstructuredGrid& grid) {
  std::vector<std::string> names;
  for (int i = 0; i < grid.GetCellData()->GetNumberOfArrays(); ++i)
    names.emplace_back(grid.GetCellData()->GetArrayName(i));
  return names;
}

}  // namespace

TEST_CASE("vtk: pieces of a volume hold its cells, corners and arrays, water included") {
  const OutputFolder folder;
  const mesh::Model model = volume();
  const std::vector<io::vtk::NamedArray> extra{{"plain", model.values}, {"of water", model.values, 7.0}};
  const auto names = io::vtk::write_model_vtu(folder / "one.vtu", model, {}, extra);
  const auto one = read<vtkXMLUnstructuredGridReader>(folder / "one.vtu");
  REQUIRE(one->GetNumberOfCells() >= 24 + 6);
  CHECK(names == names_of(*one));
  const int n_pieces = GENERATE(2, 5);  // of five, the last has no cell but water
  for (int index = 0; index < n_pieces; ++index) {
    const io::vtk::Piece piece{index, n_pieces};
    CHECK(io::vtk::write_model_vtu(folder / io::vtk::piece_name("m", piece), model, {}, extra, piece) ==
          names);
    const auto part = read<vtkXMLUnstructuredGridReader>(folder / io::vtk::piece_name("m", piece));
    CHECK(part->GetNumberOfPoints() < one->GetNumberOfPoints());
    CHECK(std::abs(part->GetNumberOfCells() - one->GetNumberOfCells() / n_pieces) <= 1);
  }
  io::vtk::write_pvtu(folder.path(), "m", n_pieces, names);
  const auto all = read<vtkXMLPUnstructuredGridReader>(folder / "m.pvtu");
  CHECK(names_of(*all) == names);
  CHECK(std::string(all->GetCellData()->GetScalars()->GetName()) == "log10_resistivity");
  CHECK(cells_of(*all) == cells_of(*one));
}

TEST_CASE("vtk: only volumes have pieces, and small ones fewer than there are ranks") {
  const mesh::TensorGrid grid = volume().earth.grid;
  CHECK(io::vtk::n_pieces(grid, 8) == 1);
  CHECK(io::vtk::n_pieces(grid, 1, 1) == 1);
  CHECK(io::vtk::n_pieces(grid, 8, 13) == 1);
  CHECK(io::vtk::n_pieces(grid, 8, 12) == 2);
  CHECK(io::vtk::n_pieces(grid, 8, 2) == 8);
  CHECK(io::vtk::n_pieces(mesh::TensorGrid::section({0, 1, 2, 3}, {0, 1, 2}), 8, 1) == 1);
  CHECK(io::vtk::piece_name("m", {0, 1}) == "m.vtu");
  CHECK(io::vtk::piece_name("m", {2, 3}) == "m_2.vtu");
}

TEST_CASE("vtk: a series lists pieces of earlier iterations, and no file of another number of ranks") {
  const OutputFolder folder;
  const mesh::Model model = volume();
  for (const char* stem : {"model_0000", "model_0001"}) io::vtk::write_pvtu(folder.path(), stem, 2, {"any"});
  io::vtk::ModelSeries(MPI_COMM_SELF, folder.path(), "model", model.earth)
      .add(1, mesh::log10_resistivity(model));
  const std::string pvd = test::slurp(folder / "model.pvd");
  CHECK_THAT(pvd, Contains("model_0000.pvtu") && Contains("model_0001.vtu") && !Contains("model_0001.pvtu"));
  CHECK_FALSE(std::filesystem::exists(folder / "model_0001.pvtu"));
}
