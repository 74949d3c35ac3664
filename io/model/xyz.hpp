// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format.
#pragma once

#include "io/geodesy/map_system.hpp"
#include "io/model/read.hpp"

#include <string>
#include <vector>

namespace lodestone::io::model {

/// Writes a row for the centre of each cell, in true position. In the model's frame it has x (of a volume),
/// y, z downwards and log10 of the resistivity. In a system of the map the places are east, north and
/// elevation. In degrees they are longitude, latitude and depth below the surface. Cells above the surface
/// have no row.
///
/// In the model's frame, comments hold edges, surface, sea and place as TOML. By them the file is read back
/// with the same bits. Returns in words what the file does not hold. errors: FileError; InvalidArgument
/// unless the model is a resistivity of a section or volume.
[[nodiscard]] std::vector<std::string> write_xyz(const std::string& path, const PlacedModel& placed,
                                                 const geodesy::MapSystem& system = {});

/// Reads a table of points whose head names its columns: `x_m` (of a volume), `y_m`, `z_m` or `depth_m`, and
/// `log10_resistivity` or `resistivity_ohm_m`, with blanks or commas between them. Without the comments of
/// `write_xyz` the points are a lattice in any order, and cells reach half-way to the next points.
/// errors: FileError; FormatError with file:line (columns, numbers, a point twice or missing); ConfigError
/// for comments that are no TOML of an earth.
[[nodiscard]] PlacedModel read_xyz(const std::string& path);

}  // namespace lodestone::io::model
