// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"
#include "physics/mesh/surface.hpp"

#include <string>
#include <vector>

namespace lodestone::io::model {

/// Reads a model from a file of any kind, recognized by its content and not by its name: HDF5 result, ModEM
/// 2-D or 3-D, WSINV3DMT, Occam2D, MARE2DEM, XYZ, GOCAD SGrid, TOML. Its grid states the dimension.
///
/// errors: FileError; FormatError or ConfigError of that format, also for resistivities outside
/// `physics::mt::is_in_resistivity_range`; FormatError for other files.
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// A model and its place on the map.
struct PlacedModel {
  physics::mesh::Model model;
  physics::mesh::Frame frame{};  ///< without a projection: the file states no place
};
/// Reads a model as `read_model` does, in the scale of the file and with its place: results, models in HDF5,
/// TOML and XYZ may state one. errors: likewise.
[[nodiscard]] PlacedModel read_placed_model(const std::string& path);

/// Returns whether a file is of a kind that `read_model` takes. Results and models of HDF5 are told from
/// other HDF5 files. errors: FileError.
[[nodiscard]] bool is_model_file(const std::string& path);

/// Reads a TOML model of a section, or of a volume where `dimension = 3` stands on its top. Layers carry
/// boxes, polygons and prisms, of which later ones win. Grid lines stand exactly on every layer, face and
/// corner; docs/model-files.md describes the format. `[cells]` gives a model cell by cell instead. Slanted
/// edges are cut into `refine` times more pieces than the file requests.
///
/// errors: FileError, ConfigError with file:line (unknown key, wrong shape or sign).
[[nodiscard]] physics::mesh::Model read_model_toml(const std::string& path, double refine = 1.0);
/// Reads likewise, with the place on the map in `[frame]`.
[[nodiscard]] PlacedModel read_placed_toml(const std::string& path, double refine = 1.0);

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

/// Returns true for a map of elevations, which `read_elevation_map` reads: a table by its first line, or a
/// raster. errors: FileError.
[[nodiscard]] bool is_elevation_map(const std::string& path);
/// Reads a map of elevations in metres above sea level, and puts it into the frame of a run.
///
/// CSV has the columns `latitude_deg`, `longitude_deg` and `elevation_m` in any order, and points anywhere.
/// A raster of any format of `raster::ElevationRaster` goes to its place on the globe by the system that it
/// states. Without one it is in degrees where it spans at most 360 by 180. Otherwise it is in metres east and
/// north of the projection, or of the origin of a frame without one. Points of the map are those of
/// `MeanSurface`. Pixels without data are left out and counted in the log.
///
/// errors: FileError, FormatError with file:line; InvalidArgument when degrees are given for a frame that has
/// no place on the globe, or a site has no point around it.
[[nodiscard]] physics::mesh::Surface read_elevation_map(const std::string& path, const MappedRun& run);

}  // namespace lodestone::io::model
