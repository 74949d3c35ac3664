// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run/result.hpp"
#include "io/vtk/cells.hpp"

namespace lodestone::io::vtk {

/// Stations with residual rms, number of kept data, and rms per quantity ("rms_log10_rho_xy" …; NaN where a
/// station has no kept datum).
[[nodiscard]] StationPoints station_points(const run::InversionResult& result);

/// Returns the place of a result's profile on the map; it follows the stations when distances are running
/// sums.
[[nodiscard]] physics::mesh::Frame map_frame(const run::InversionResult& result);

/// `section.vtu`, `stations.vtp` in profile coordinates and, where the profile has a projection,
/// `section_world.vtu`, `stations_world.vtp`. returns: the files written. errors: FileError.
std::vector<std::filesystem::path> write_result_vtk(const std::filesystem::path& folder,
                                                    const run::InversionResult& result);

}  // namespace lodestone::io::vtk
