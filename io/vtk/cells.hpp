// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/profile.hpp"

#include <Eigen/Core>

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::vtk {

/// Turns profile coordinates into the x, y, z of a VTK file. ParaView users expect z upwards: every frame
/// writes elevation.
struct VtkFrame {
  std::function<physics::mt::PlanePoint(double y_m)> plane;  ///< absent: profile coordinates (y, 0, −z)
  double datum_elevation_m = 0.0;                            ///< elevation of z = 0
};
/// (y, 0, −z).
[[nodiscard]] VtkFrame profile_frame();
/// (east, north, elevation) along a straight line from `origin`.
[[nodiscard]] VtkFrame straight_frame(physics::mt::PlanePoint origin, double azimuth_deg,
                                      double datum_elevation_m = 0.0);
/// (east, north, elevation) along the polyline through points at y (increasing), continued straight beyond
/// its ends. errors: ShapeError, InvalidArgument when y does not increase or there are fewer than two points.
[[nodiscard]] VtkFrame polyline_frame(std::vector<double> y_m, std::vector<physics::mt::PlanePoint> points,
                                      double datum_elevation_m = 0.0);

/// A named array beside the standard ones. shape: (number of cells or points).
struct NamedArray {
  std::string name;
  Eigen::VectorXd values;
  double in_sea = std::numeric_limits<double>::quiet_NaN();  ///< of the cells of water
};

/// Writes a section as quadrilateral cells (.vtu) with cell arrays resistivity_ohm_m, log10_resistivity,
/// cell_index and `extra`.
///
/// A sea is drawn as one cell per column between its level and its floor, a triangle where the column holds
/// the coast: with the water's resistivity, cell_index −1 and a cell array `sea`, 1 in water and 0 elsewhere
/// (absent without a sea). Cells are draped where the grid is measured from the surface; else cells above the
/// surface are cut or left out and the top row reaches up to it. errors: FileError, ShapeError.
void write_section_vtu(const std::filesystem::path& path, const physics::mesh::Section2D& section,
                       const VtkFrame& frame = {}, const std::vector<NamedArray>& extra = {});

/// One file of a ParaView time series.
struct SeriesEntry {
  double time = 0.0;
  std::string file;  ///< relative to the .pvd
};
/// Writes the .pvd that lists a series. errors: FileError.
void write_pvd(const std::filesystem::path& path, const std::vector<SeriesEntry>& entries);

/// The model of every iteration: `<stem>_0000.vtu` … and `<stem>.pvd`, which lists the iterations up to the
/// last added one after every `add`.
class SectionSeries {
 public:
  /// errors: FileError when the folder cannot be made.
  SectionSeries(std::filesystem::path folder, std::string stem, physics::mesh::TensorGrid grid,
                physics::mesh::SurfaceLine surface, std::optional<physics::mesh::Sea> sea = {},
                VtkFrame frame = {});
  /// errors: FileError, ShapeError. An iteration added again (after a resume) replaces its file.
  void add(int iteration, const Eigen::Ref<const Eigen::VectorXd>& log10_resistivity);

 private:
  std::filesystem::path folder_;
  std::string stem_;
  physics::mesh::TensorGrid grid_;
  physics::mesh::SurfaceLine surface_;
  std::optional<physics::mesh::Sea> sea_;
  VtkFrame frame_;
};

/// Stations on the surface as points (.vtp). shapes: names (n), y (n), z (n, down), arrays (n each).
struct StationPoints {
  std::vector<std::string> names;
  std::vector<double> y_m, z_m;
  std::vector<NamedArray> arrays;
};
/// errors: FileError, ShapeError.
void write_stations_vtp(const std::filesystem::path& path, const StationPoints& stations,
                        const VtkFrame& frame = {});

}  // namespace lodestone::io::vtk
