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
#include <span>

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

namespace {

bool is_resistivity(const mesh::Property& property) { return property.name == mesh::Property{}.name; }

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

std::span<const mesh::OutlineCell> cells_of(const mesh::Outline& outline, const Piece& piece) {
  const auto place = [&](int index) {
    return outline.cells.size() * static_cast<std::size_t>(index) / static_cast<std::size_t>(piece.count);
  };
  return std::span(outline.cells).subspan(place(piece.index), place(piece.index + 1) - place(piece.index));
}

/// Inserts the corners that these cells use. Returns their numbers in the file, −1 for those of other cells.
std::vector<vtkIdType> insert_corners(const mesh::Outline& outline, std::span<const mesh::OutlineCell> cells,
                                      const mesh::Frame& frame, vtkUnstructuredGrid& to) {
  // A whole model keeps all corners, also those of cells that are left out.
  const bool is_whole = cells.size() == outline.cells.size();
  std::vector<vtkIdType> number(outline.corners.size(), is_whole ? 0 : -1);
  for (const mesh::OutlineCell& cell : cells) {
    for (const std::size_t corner : cell.corners) number[corner] = 0;
  }
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (std::size_t corner = 0; corner < number.size(); ++corner) {
    if (number[corner] < 0) continue;
    number[corner] = points->GetNumberOfPoints();
    vtk::insert_point(*points, frame, outline.corners[corner]);
  }
  to.SetPoints(points);
  return number;
}

/// Inserts the corners and cells of a piece of an outline.
DrawnCells insert_cells(const mesh::Outline& outline, const Piece& piece, const mesh::Frame& frame,
                        vtkUnstructuredGrid& to) {
  const std::span<const mesh::OutlineCell> cells = cells_of(outline, piece);
  const std::vector<vtkIdType> number = insert_corners(outline, cells, frame, to);
  DrawnCells drawn;
  for (const mesh::OutlineCell& cell : cells) {
    std::vector<vtkIdType> corners;
    for (const std::size_t corner : cell.corners) corners.push_back(number[corner]);
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

/// Adds the values of a model, first the array to show; of a resistivity both scales, in water those of the
/// sea.
void add_values(vtkUnstructuredGrid& to, const mesh::Model& model, const DrawnCells& cells) {
  const std::string shown = shown_array(model.property);
  if (!is_resistivity(model.property)) {
    add_cell_array(to, shown, cells, model.values, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const double water = model.earth.sea ? model.earth.sea->resistivity_ohm_m : 1.0;
  add_cell_array(to, shown, cells, mesh::log10_resistivity(model), std::log10(water));
  add_cell_array(to, "resistivity_ohm_m", cells, mesh::resistivity_ohm_m(model), water);
}

}  // namespace

mesh::MapPlace place_in_file(const mesh::Frame& frame, const mesh::Point& point) {
  if (frame.is_on_map()) return mesh::on_map(frame, point);
  return {point.y_m, point.x_m, frame.elevation_m - point.z_m};
}

std::string shown_array(const mesh::Property& property) {
  const bool is_log = is_resistivity(property) || property.scale == mesh::Scale::log10;
  return (is_log ? "log10_" : "") + property.name;
}

std::vector<std::string> write_model_vtu(const std::filesystem::path& path, const mesh::Model& model,
                                         const mesh::Frame& frame, const std::vector<NamedArray>& extra,
                                         Piece piece) {
  const Eigen::Index n_cells = model.earth.grid.n_cells();
  check_size(model.property.name, model.values.size(), n_cells);
  for (const NamedArray& array : extra) check_size(array.name, array.values.size(), n_cells);
  mesh::check(frame);
  const vtkNew<vtkUnstructuredGrid> grid;
  const DrawnCells cells = insert_cells(mesh::outline(model.earth), piece, frame, *grid);
  add_values(*grid, model, cells);
  for (const NamedArray& array : extra) add_cell_array(*grid, array.name, cells, array.values, array.in_sea);
  add_cell_array(*grid, "cell_index", cells,
                 Eigen::VectorXd::LinSpaced(n_cells, 0.0, static_cast<double>(n_cells - 1)), -1.0);
  if (model.earth.sea) add_cell_array(*grid, "sea", cells, Eigen::VectorXd::Zero(n_cells), 1.0);
  std::vector<std::string> names;
  for (int i = 0; i < grid->GetCellData()->GetNumberOfArrays(); ++i)
    names.emplace_back(grid->GetCellData()->GetArrayName(i));
  grid->GetCellData()->SetActiveScalars(names.front().c_str());
  const vtkNew<vtkXMLUnstructuredGridWriter> writer;
  writer->SetInputData(grid);
  vtk::write(path, *writer);
  return names;
}

}  // namespace lodestone::io::vtk
