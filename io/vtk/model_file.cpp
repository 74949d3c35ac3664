// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/model_file.hpp"

#include "engine/core/error.hpp"
#include "io/vtk/vtk_file.hpp"
#include "physics/mesh/outline.hpp"

#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

namespace {

void check_size(const std::string& what, Eigen::Index got, Eigen::Index expected) {
  if (got != expected) {
    throw core::ShapeError("io::write_model_vtu#wrong_values", "expected {} values of {}, got {}", expected,
                           what, got);
  }
}

/// The meaning of the cells of the file: cells of the section, then water.
struct DrawnCells {
  std::vector<Eigen::Index> earth;
  int n_sea = 0;
};

/// Returns VTK's type of a cell, by the dimension of the outline and the number of corners.
int type_of(int dimension, std::size_t n_corners) {
  if (dimension == 1) return VTK_LINE;
  if (dimension == 2) return n_corners == 3 ? VTK_TRIANGLE : VTK_QUAD;
  return n_corners == 6 ? VTK_WEDGE : VTK_HEXAHEDRON;
}

/// Inserts the corners and cells of an outline.
DrawnCells insert_cells(const mesh::Outline& outline, const mesh::Frame& frame, vtkUnstructuredGrid& to) {
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (const mesh::Point& corner : outline.corners) vtk::insert_point(*points, frame, corner);
  to.SetPoints(points);
  DrawnCells drawn;
  for (const mesh::OutlineCell& cell : outline.cells) {
    std::vector<vtkIdType> corners(cell.corners.begin(), cell.corners.end());
    if (corners.size() == 6)  // the first triangle of VTK's wedge points outwards, so it is the upper one
      std::rotate(corners.begin(), corners.begin() + 3, corners.end());
    to.InsertNextCell(type_of(outline.dimension, corners.size()), static_cast<vtkIdType>(corners.size()),
                      corners.data());
    if (cell.cell < 0)
      ++drawn.n_sea;
    else
      drawn.earth.push_back(cell.cell);
  }
  return drawn;
}

void add_cell_array(vtkUnstructuredGrid& to, const std::string& name, const DrawnCells& cells,
                    const Eigen::VectorXd& values, double in_sea) {
  std::vector<double> picked(cells.earth.size());
  std::transform(cells.earth.begin(), cells.earth.end(), picked.begin(),
                 [&](Eigen::Index cell) { return values[cell]; });
  picked.insert(picked.end(), static_cast<std::size_t>(cells.n_sea), in_sea);
  vtk::add_array(*to.GetCellData(), name, picked);
}

/// Adds the values of a model; of a resistivity both scales, in water those of the sea. Returns the name of
/// the array to show first.
std::string add_values(vtkUnstructuredGrid& to, const mesh::Model& model, const DrawnCells& cells) {
  if (model.property.name != "resistivity") {
    const bool is_log = model.property.scale == mesh::Scale::log10;
    const std::string name = (is_log ? "log10_" : "") + model.property.name;
    add_cell_array(to, name, cells, model.values, std::numeric_limits<double>::quiet_NaN());
    return name;
  }
  const double water = model.earth.sea ? model.earth.sea->resistivity_ohm_m : 1.0;
  add_cell_array(to, "log10_resistivity", cells, mesh::log10_resistivity(model), std::log10(water));
  add_cell_array(to, "resistivity_ohm_m", cells, mesh::resistivity_ohm_m(model), water);
  return "log10_resistivity";
}

}  // namespace

void write_model_vtu(const std::filesystem::path& path, const mesh::Model& model, const mesh::Frame& frame,
                     const std::vector<NamedArray>& extra) {
  const Eigen::Index n_cells = model.earth.grid.n_cells();
  check_size(model.property.name, model.values.size(), n_cells);
  for (const NamedArray& array : extra) check_size(array.name, array.values.size(), n_cells);
  mesh::check(frame);
  const vtkNew<vtkUnstructuredGrid> grid;
  const DrawnCells cells = insert_cells(mesh::outline(model.earth), frame, *grid);
  const std::string shown = add_values(*grid, model, cells);
  for (const NamedArray& array : extra) add_cell_array(*grid, array.name, cells, array.values, array.in_sea);
  add_cell_array(*grid, "cell_index", cells,
                 Eigen::VectorXd::LinSpaced(n_cells, 0.0, static_cast<double>(n_cells - 1)), -1.0);
  if (model.earth.sea) add_cell_array(*grid, "sea", cells, Eigen::VectorXd::Zero(n_cells), 1.0);
  grid->GetCellData()->SetActiveScalars(shown.c_str());
  const vtkNew<vtkXMLUnstructuredGridWriter> writer;
  writer->SetInputData(grid);
  vtk::write(path, *writer);
}

}  // namespace lodestone::io::vtk
