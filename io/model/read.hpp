// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"
#include "physics/mesh/surface.hpp"

#include <string>
#include <vector>

namespace lodestone::io::model {

/// Reads a model from a file of any kind, recognized by its content and not by its name: HDF5 result, ModEM
/// 2-D or 3-D, Occam2D, TOML. Its grid states the dimension.
///
/// errors: FileError; FormatError or ConfigError of that format, also for resistivities outside
/// `physics::mt::is_in_resistivity_range`; FormatError for other files.
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Reads a TOML model of a section, or of a volume where `dimension = 3` stands on its top. Layers carry
/// boxes, polygons and prisms, of which later ones win. Grid lines stand exactly on every layer, face and
/// corner; docs/model-files.md describes the format. Slanted edges are cut into `refine` times more pieces
/// than the file requests.
///
/// errors: FileError, ConfigError with file:line (unknown key, wrong shape or sign).
[[nodiscard]] physics::mesh::Model read_model_toml(const std::string& path, double refine = 1.0);

/// Reads the earth's surface, ground or sea floor, with z down (a hill is negative). A line has y increasing:
/// CSV with the header `y_m,z_m`, or two columns of numbers without header, as in MARE2DEM's .prfl files. A
/// map is CSV with the header `x_m,y_m,z_m`: each point of a grid once, in any order. errors: FileError,
/// FormatError with file:line.
[[nodiscard]] physics::mesh::Surface read_surface_file(const std::string& path);

/// The run that a map of elevations is read for.
struct MappedRun {
  physics::mesh::Frame frame{};  ///< its place on the globe, z = 0 at sea level
  physics::mesh::TensorGrid grid;
  std::vector<physics::mesh::Site> sites{};
};

/// Returns true for a file whose first line is that of a map of elevations, which `read_elevation_map` reads.
/// errors: FileError.
[[nodiscard]] bool is_elevation_map(const std::string& path);
/// Reads a map of elevations in metres above sea level, and puts it into the frame of a run.
///
/// CSV has the columns `latitude_deg`, `longitude_deg` and `elevation_m` in any order, and points anywhere.
/// An ESRI ASCII grid is in degrees where it spans at most 360 by 180. Otherwise it is in metres east and
/// north of the projection, or of the origin of a frame without one. Points of the map are those of
/// `MeanSurface`. Cells without data are left out and counted in the log.
///
/// errors: FileError, FormatError with file:line; InvalidArgument when degrees are given for a frame that has
/// no place on the globe, or a site has no point around it.
[[nodiscard]] physics::mesh::Surface read_elevation_map(const std::string& path, const MappedRun& run);

}  // namespace lodestone::io::model
