// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"

#include <Eigen/Core>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::vtk {

/// Returns the coordinates that files hold for a point: its place on the map, or (y, x, elevation) where the
/// frame has none.
[[nodiscard]] physics::mesh::MapPlace place_in_file(const physics::mesh::Frame& frame,
                                                    const physics::mesh::Point& point);
/// Returns the name of the array by which the values of a property are shown.
[[nodiscard]] std::string shown_array(const physics::mesh::Property& property);

/// A named array beside the standard ones. shape: (number of cells or points).
struct NamedArray {
  std::string name;
  Eigen::VectorXd values;
  double in_sea = std::numeric_limits<double>::quiet_NaN();  ///< value in the cells of water
};

/// One of the files that hold a model together: an equal share of the drawn cells, in their order.
struct Piece {
  int index = 0, count = 1;
};

/// Writes the cells of a model (.vtu): lines in 1-D, quadrilaterals in 2-D, hexahedra in 3-D. Cell arrays are
/// the values under the name of the property, cell_index and `extra`; a resistivity comes as
/// resistivity_ohm_m and log10_resistivity.
///
/// Points are (east, north, elevation) where the frame lies on the map, else (y, x, elevation), since
/// ParaView shows z upwards. A sea is drawn as one cell per column between its level and its floor, with
/// fewer corners where the column holds the coast. Water has its own resistivity, cell_index −1 and 1 in the
/// cell array `sea` (absent without a sea). Cells are draped where the grid is measured from the surface;
/// else cells above the surface are cut or left out and the top row reaches up to it. Returns the names of
/// the cell arrays, first the one to show. errors: FileError, ShapeError; InvalidArgument when the frame does
/// not pass `check`.
std::vector<std::string> write_model_vtu(const std::filesystem::path& path, const physics::mesh::Model& model,
                                         const physics::mesh::Frame& frame = {},
                                         const std::vector<NamedArray>& extra = {}, Piece piece = {});

/// Stations on the surface as points (.vtp). shapes: names (n), y (n), z (n, down), arrays (n each), x (n),
/// or empty where all are 0.
struct StationPoints {
  std::vector<std::string> names;
  std::vector<double> y_m, z_m{};
  std::vector<NamedArray> arrays{};
  std::vector<double> x_m{};
};
/// Writes stations as points with values. errors: FileError, ShapeError.
void write_stations_vtp(const std::filesystem::path& path, const StationPoints& stations,
                        const physics::mesh::Frame& frame = {});

}  // namespace lodestone::io::vtk
