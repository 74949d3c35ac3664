// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/cells.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mesh {
namespace {

/// Calls f({ix, iy, iz}) for each cell in the order of its index.
template <class F>
void for_each_cell(const TensorGrid& grid, F&& f) {
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix) f(std::array<int, 3>{ix, iy, iz});
    }
  }
}

std::size_t place(Axis axis) { return static_cast<std::size_t>(axis); }

/// Returns the product of a cell's widths along all axes but one.
double area_across(const TensorGrid& grid, const std::array<int, 3>& cell, Axis normal) {
  double area = 1.0;
  for (const Axis axis : all_axes) {
    if (axis != normal) area *= grid.width_m(axis, cell[place(axis)]);
  }
  return area;
}

Eigen::Index index_of(const TensorGrid& grid, const std::array<int, 3>& cell) {
  return grid.index(cell[2], cell[1], cell[0]);
}

void add_faces(const TensorGrid& grid, Axis normal, std::vector<Face>& faces) {
  for_each_cell(grid, [&](const std::array<int, 3>& cell) {
    std::array<int, 3> next = cell;
    const int i = cell[place(normal)], behind = ++next[place(normal)];
    if (behind >= grid.n(normal)) return;
    const double depth_m = normal == Axis::z ? grid.edges().z_m[static_cast<std::size_t>(behind)]
                                             : grid.centre_m(Axis::z, cell[2]);
    faces.push_back({index_of(grid, cell), index_of(grid, next), normal, area_across(grid, cell, normal),
                     0.5 * (grid.width_m(normal, i) + grid.width_m(normal, behind)), depth_m});
  });
}

}  // namespace

Cells cells(const TensorGrid& grid) {
  Cells result{.grid = grid,
               .centre = {},
               .volume = Eigen::VectorXd(grid.n_cells()),
               .faces = {},
               .column = {},
               .shape = {grid.n_z(), grid.n_y(), grid.n_x()},
               .extent = grid.extent()};
  result.centre.reserve(static_cast<std::size_t>(grid.n_cells()));
  for_each_cell(grid, [&](const std::array<int, 3>& cell) {
    const auto& [ix, iy, iz] = cell;
    result.centre.push_back(
        {grid.centre_m(Axis::x, ix), grid.centre_m(Axis::y, iy), grid.centre_m(Axis::z, iz)});
    result.volume[index_of(grid, cell)] =
        grid.width_m(Axis::x, ix) * grid.width_m(Axis::y, iy) * grid.width_m(Axis::z, iz);
    result.column.push_back(iy * grid.n_x() + ix);
  });
  for (const Axis axis : all_axes) add_faces(grid, axis, result.faces);
  return result;
}

Cells cells(const Earth& earth) { return cells(earth.grid); }

double Cells::longest_side_m() const {
  double longest = 0.0;
  for (const Axis axis : all_axes) {
    if (grid.has(axis)) longest = std::max(longest, extent[axis].length());
  }
  return longest;
}

std::vector<Eigen::Index> Cells::inside(const Shape& region) const {
  std::vector<Eigen::Index> result;
  for (std::size_t cell = 0; cell < centre.size(); ++cell) {
    if (contains(region, centre[cell])) result.push_back(static_cast<Eigen::Index>(cell));
  }
  return result;
}

}  // namespace lodestone::physics::mesh
