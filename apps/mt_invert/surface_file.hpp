// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"

#include <string>

namespace lodestone::mt_invert {

/// Topography from a CSV file with header `y_m,z_m` (z down, so a hill is negative), y increasing. errors: FileError, FormatError with file:line.
[[nodiscard]] physics::mesh::Surface2D read_surface_csv(const std::string& path);

}  // namespace lodestone::mt_invert
