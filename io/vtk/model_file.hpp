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

/// A named array beside the standard ones. shape: (number of cells or points).
struct NamedArray {
  std::string name;
  Eigen::VectorXd values;
  double in_sea = std::numeric_limits<double>::quiet_NaN();  ///< value in the cells of water
};

/// Writes the cells of a model (.vtu): lines in 1-D, quadrilaterals in 2-D, hexahedra in 3-D. Cell arrays are
/// the values under the name of the property, cell_index and `extra`; a resistivity comes as
/// resistivity_ohm_m and log10_resistivity.
///
/// Points are (east, north, elevation) where the frame lies on the map, else (y, x, elevation), since
/// ParaView shows z upwards. A sea is drawn as one cell per column between its level and its floor, with
/// fewer corners where the column holds the coast. Water has its own resistivity, cell_index −1 and 1 in the
/// cell array `sea` (absent without a sea). Cells are draped where the grid is measured from the surface;
/// else cells above the surface are cut or left out and the top row reaches up to it. errors: FileError,
/// ShapeError; InvalidArgument when the frame does not pass `check`.
void write_model_vtu(const std::filesystem::path& path, const physics::mesh::Model& model,
                     const physics::mesh::Frame& frame = {}, const std::vector<NamedArray>& extra = {});

/// One file of a ParaView time series.
struct SeriesEntry {
  double time = 0.0;
  std::string file;  ///< relative to the .pvd
};
/// Writes the .pvd that lists a series. errors: FileError.
void write_pvd(const std::filesystem::path& path, const std::vector<SeriesEntry>& entries);

/// The model of every iteration: `<stem>_0000.vtu` … and `<stem>.pvd`, which lists the iterations up to the
/// last added one after every `add`.
class ModelSeries {
 public:
  /// Makes the folder. errors: FileError when it cannot be made.
  ModelSeries(std::filesystem::path folder, std::string stem, physics::mesh::Earth earth,
              physics::mesh::Frame frame = {});
  /// Writes one iteration; one that is added again after a resume replaces its file. errors: FileError,
  /// ShapeError.
  void add(int iteration, const Eigen::Ref<const Eigen::VectorXd>& log10_resistivity);

 private:
  std::filesystem::path folder_;
  std::string stem_;
  physics::mesh::Earth earth_;
  physics::mesh::Frame frame_;
};

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
