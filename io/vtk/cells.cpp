// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/cells.hpp"

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

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

namespace {

void check_size(const std::string& what, Eigen::Index got, Eigen::Index expected) {
  if (got != expected) {
    throw core::ShapeError("io::write_section_vtu", "expected {} values of {}, got {}", expected, what, got);
  }
}

/// The meaning of the cells of the file: cells of the section, then water.
struct DrawnCells {
  std::vector<Eigen::Index> earth;
  int n_sea = 0;
};

/// Inserts the corners and cells of an outline.
DrawnCells insert_cells(const mesh::Outline& outline, const VtkFrame& frame, vtkUnstructuredGrid& to) {
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (const mesh::Point& corner : outline.corners) vtk::insert_point(*points, frame, corner.y_m, corner.z_m);
  to.SetPoints(points);
  DrawnCells drawn;
  for (const mesh::OutlineCell& cell : outline.cells) {
    const std::vector<vtkIdType> corners(cell.corners.begin(), cell.corners.end());
    to.InsertNextCell(corners.size() == 3 ? VTK_TRIANGLE : VTK_QUAD, static_cast<vtkIdType>(corners.size()),
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

}  // namespace

void write_section_vtu(const std::filesystem::path& path, const mesh::Section2D& section,
                       const VtkFrame& frame, const std::vector<NamedArray>& extra) {
  check_size("resistivity", section.resistivity_ohm_m.size(), section.grid.n_cells());
  for (const NamedArray& array : extra) {
    check_size(array.name, array.values.size(), section.grid.n_cells());
  }
  const vtkNew<vtkUnstructuredGrid> grid;
  const DrawnCells cells = insert_cells(mesh::outline(mesh::earth_of(section)), frame, *grid);
  const double water = section.sea ? section.sea->resistivity_ohm_m : 1.0;
  const Eigen::Index n_cells = section.grid.n_cells();
  add_cell_array(*grid, "log10_resistivity", cells, section.resistivity_ohm_m.array().log10().matrix(),
                 std::log10(water));
  add_cell_array(*grid, "resistivity_ohm_m", cells, section.resistivity_ohm_m, water);
  for (const NamedArray& array : extra) {
    add_cell_array(*grid, array.name, cells, array.values, array.in_sea);
  }
  add_cell_array(*grid, "cell_index", cells,
                 Eigen::VectorXd::LinSpaced(n_cells, 0.0, static_cast<double>(n_cells - 1)), -1.0);
  if (section.sea) add_cell_array(*grid, "sea", cells, Eigen::VectorXd::Zero(n_cells), 1.0);
  grid->GetCellData()->SetActiveScalars("log10_resistivity");
  const vtkNew<vtkXMLUnstructuredGridWriter> writer;
  writer->SetInputData(grid);
  vtk::write(path, *writer);
}

}  // namespace lodestone::io::vtk
