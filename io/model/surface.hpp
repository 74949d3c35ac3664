// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"

#include <string>

namespace lodestone::io::model {

/// The earth's surface, ground or sea floor, z down (so a hill is negative), y increasing: CSV with the
/// header `y_m,z_m`, or two columns of numbers without header, as MARE2DEM's .prfl files have. errors:
/// FileError, FormatError with file:line.
[[nodiscard]] physics::mesh::SurfaceLine read_surface_file(const std::string& path);

}  // namespace lodestone::io::model
