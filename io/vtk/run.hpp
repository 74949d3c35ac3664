// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the files of a whole run; cells and sites are written without it.
#pragma once

#include "engine/core/mpi/rank_zero.hpp"
#include "inversion/outcome.hpp"
#include "io/vtk/model_file.hpp"

namespace lodestone::io::vtk {

/// Returns the sites with residual rms, number of used data, and rms per quantity ("rms_log10_rho_xy" …; NaN
/// where a site has no used datum) as far as the key of the data states sites and quantities.
[[nodiscard]] StationPoints station_points(const inversion::Outcome& outcome);

/// Writes `section.vtu` (`model.vtu` of layers and volumes, or `model.pvtu` as `write_model` has it) and,
/// where there are sites, `stations.vtp`, in coordinates of the grid. Where the frame lies on the map, also
/// writes `section_world.vtu` and `stations_world.vtp`.
/// Returns the files to open. collective. errors: FileError.
std::vector<std::filesystem::path> write_result_vtk(MPI_Comm comm, const std::filesystem::path& folder,
                                                    const inversion::Outcome& outcome);

}  // namespace lodestone::io::vtk
