// SPDX-License-Identifier: Apache-2.0
// One prism in three dimensions, taken through every room that a model passes.
#include "inversion/prior/roughness.hpp"
#include "io/hdf5/file.hpp"
#include "io/vtk/model_file.hpp"
#include "physics/mesh/slice.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/output_support.hpp"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <set>

using namespace lodestone;
using test::OutputFolder;
namespace mesh = physics::mesh;

namespace {

/// Returns a square in plan, 20 m × 20 m.
const mesh::Polygon outline(mesh::points({{10, 10}, {30, 10}, {30, 30}, {10, 30}}, mesh::Plane::plan),
                            mesh::Plane::plan);

/// Returns 4 × 4 × 2 cells of 10 m × 10 m × 5 m under an uneven map; 10 ohm m in the upper layer within the
/// outline, 100 ohm m elsewhere.
mesh::Model prism() {
  Eigen::Matrix2d z;
  z << -2, 1, 0, 3;
  const mesh::Earth earth{mesh::TensorGrid(mesh::Edges{{0, 10, 20, 30, 40}, {0, 10, 20, 30, 40}, {0, 5, 10}}),
                          mesh::Surface({0, 40}, {0, 40}, z)};
  mesh::Model model{earth, {}, Eigen::VectorXd::Constant(earth.grid.n_cells(), 2.0)};
  for (const Eigen::Index cell : mesh::cells(earth).inside(outline)) {
    if (cell < 16) model.values[cell] = 1.0;
  }
  return model;
}

/// The cells of the prism.
const std::set<Eigen::Index> within{5, 6, 9, 10};

/// The cells whose value is that of the prism.
template <class Pieces>
std::set<Eigen::Index> conductive(const mesh::Model& model, const Pieces& pieces) {
  std::set<Eigen::Index> cells;
  for (const auto& piece : pieces) {
    if (model.values[piece.cell] == 1.0) cells.insert(piece.cell);
  }
  return cells;
}

}  // namespace

TEST_CASE("a prism in 3-D costs roughness on its faces, and none across its torn walls") {
  const mesh::Model model = prism();
  inversion::prior::RoughnessOptions options{.smallness_length_m = 1e9};
  const auto cost = [&] {
    return (inversion::prior::roughness_operator(mesh::cells(model.earth), options) * model.values)
        .squaredNorm();
  };
  const double walls = 8 * 10.0 * 5.0 / 10.0, bottom = 4 * 10.0 * 10.0 / 5.0;  // Σ area / distance
  CHECK(cost() == Approx(walls + bottom));
  std::vector<mesh::Point> around = outline.corners();
  around.push_back(around.front());
  options.tears = {{around, 0.0, mesh::Plane::plan}};
  CHECK(cost() == Approx(bottom));
}

TEST_CASE("a prism in 3-D is cut by vertical and horizontal slices") {
  const mesh::Model model = prism();
  const auto along = mesh::slice(model.earth, mesh::VerticalCut{{15, 0, 0}, {15, 40, 0}});
  CHECK(conductive(model, along.pieces) == std::set<Eigen::Index>{5, 9});
  CHECK(conductive(model, mesh::slice(model.earth, mesh::HorizontalCut{2.0}).pieces) == within);
  CHECK(conductive(model, mesh::slice(model.earth, mesh::HorizontalCut{7.0}).pieces).empty());
}

TEST_CASE("a prism in 3-D comes back from HDF5 to the bit") {
  const OutputFolder folder;
  const mesh::Model model = prism();
  io::hdf5::Hdf5Sink sink(folder / "prism.h5");
  mesh::write(sink, model);
  sink.commit();
  const mesh::Model back = mesh::read_model(io::hdf5::Hdf5Source(folder / "prism.h5"));
  CHECK(back.values == model.values);
  CHECK(back.earth.surface.z_m() == model.earth.surface.z_m());
  for (const mesh::Axis axis : mesh::all_axes)
    CHECK(back.earth.grid.edges_m(axis) == model.earth.grid.edges_m(axis));
}

TEST_CASE("a prism in 3-D has its cells in ParaView, under the surface") {
  const OutputFolder folder;
  io::vtk::write_model_vtu(folder / "prism.vtu", prism());
  const vtkNew<vtkXMLUnstructuredGridReader> reader;
  reader->SetFileName((folder / "prism.vtu").c_str());
  reader->Update();
  vtkUnstructuredGrid& grid = *reader->GetOutput();
  REQUIRE(grid.GetNumberOfCells() == 32);
  std::set<Eigen::Index> found;
  for (vtkIdType cell = 0; cell < grid.GetNumberOfCells(); ++cell) {
    if (grid.GetCellData()->GetArray("resistivity_ohm_m")->GetTuple1(cell) < 11.0) found.insert(cell);
  }
  CHECK(found == within);
  double bounds[6];
  grid.GetCellBounds(5, bounds);  // y, x, elevation
  CHECK((bounds[0] == 10.0 && bounds[1] == 20.0 && bounds[2] == 10.0 && bounds[3] == 20.0));
  CHECK(bounds[5] == Approx(-prism().earth.surface.z_at(10.0, 10.0)));
}
