// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what rasters state is told apart in one place.
#pragma once

#include "io/info/info.hpp"

namespace lodestone::io::info {

inline constexpr const char* elevation_map = "a map of elevations, as profile.surface_file takes it";

/// Describes a list of elevations, or a raster by what it states; a raster that states no quantity is a grid
/// of numbers. errors: FormatError.
void describe_elevations(FileInfo& info);

}  // namespace lodestone::io::info
