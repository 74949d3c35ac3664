// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/cells.hpp"

#include "engine/core/error.hpp"
#include "io/vtk/vtk_file.hpp"

#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

namespace {

/// Depth of the grid's edge `iz` at profile distance y, in the frame of the section.
double edge_depth(const mesh::Section2D& section, int iz, double y_m) {
  const double surface = section.surface.z_at(y_m);
  const double edge = section.grid.z_edges_m()[static_cast<std::size_t>(iz)];
  if (section.grid.reference() == mesh::DepthReference::surface) {
    return surface + edge;
  }
  return iz == 0 ? surface : std::max(edge, surface);
}

void check_size(const std::string& what, Eigen::Index got, Eigen::Index expected) {
  if (got != expected) {
    throw core::ShapeError("io::write_section_vtu", "expected {} values of {}, got {}", expected, what, got);
  }
}

/// Inserts points and cells; returns the section's cell of each quadrilateral.
std::vector<Eigen::Index> insert_cells(const mesh::Section2D& section, const VtkFrame& frame,
                                       vtkUnstructuredGrid& to) {
  const mesh::TensorGrid2D& grid = section.grid;
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int iy = 0; iy <= grid.n_y(); ++iy) {
    const double y = grid.y_edges_m()[static_cast<std::size_t>(iy)];
    for (int iz = 0; iz <= grid.n_z(); ++iz) {
      vtk::insert_point(*points, frame, y, edge_depth(section, iz, y));
    }
  }
  to.SetPoints(points);
  std::vector<Eigen::Index> cells;
  const auto node = [&](int iz, int iy) { return static_cast<vtkIdType>(iy) * (grid.n_z() + 1) + iz; };
  const auto has_thickness = [&](int iz, int iy) {
    const double y = grid.y_edges_m()[static_cast<std::size_t>(iy)];
    return edge_depth(section, iz + 1, y) > edge_depth(section, iz, y);
  };
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      if (has_thickness(iz, iy) || has_thickness(iz, iy + 1)) {
        const std::array<vtkIdType, 4> corners{node(iz, iy), node(iz + 1, iy), node(iz + 1, iy + 1),
                                               node(iz, iy + 1)};
        to.InsertNextCell(VTK_QUAD, 4, corners.data());
        cells.push_back(grid.index(iz, iy));
      }
    }
  }
  return cells;
}

/// Inserts the water above each column, its floor straight between the column's edges as the earth below it;
/// returns the number of cells.
int insert_sea(const mesh::Section2D& section, const VtkFrame& frame, vtkUnstructuredGrid& to) {
  const double level = section.sea->level_m;
  vtkPoints& points = *to.GetPoints();
  int n_cells = 0;
  const auto& edges = section.grid.y_edges_m();
  for (std::size_t iy = 0; iy + 1 < edges.size(); ++iy) {
    const double left = edges[iy], right = edges[iy + 1];
    const double left_floor = section.surface.z_at(left), right_floor = section.surface.z_at(right);
    if (left_floor <= level && right_floor <= level) continue;
    const double coast = left + (right - left) * (level - left_floor) / (right_floor - left_floor);
    std::vector<vtkIdType> corners;
    const auto corner = [&](double y_m, double z_m) {
      corners.push_back(points.GetNumberOfPoints());
      vtk::insert_point(points, frame, y_m, z_m);
    };
    corner(left_floor > level ? left : coast, level);
    if (left_floor > level) corner(left, left_floor);
    if (right_floor > level) corner(right, right_floor);
    corner(right_floor > level ? right : coast, level);
    to.InsertNextCell(corners.size() == 3 ? VTK_TRIANGLE : VTK_QUAD, static_cast<vtkIdType>(corners.size()),
                      corners.data());
    ++n_cells;
  }
  return n_cells;
}

/// What the cells of the file stand for: cells of the section, then water.
struct DrawnCells {
  std::vector<Eigen::Index> earth;
  int n_sea = 0;
};

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
  DrawnCells cells{insert_cells(section, frame, *grid)};
  if (section.sea) cells.n_sea = insert_sea(section, frame, *grid);
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
