// SPDX-License-Identifier: Apache-2.0
// Small on purpose: stations with what was measured there; those of a run are in run.hpp.
#pragma once

#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <vector>

namespace lodestone::io::vtk {

/// Writes stations with induction arrows, apparent resistivities, phases and phase tensors as points, and
/// ellipses of the phase tensors as polygons. Returns the two files to open: `path`, and beside it that of
/// the ellipses. docs/paraview.md lists the arrays.
///
/// A `path` that ends in .pvd becomes a series with a step per period, whose files lie in a folder of its
/// name. A .vtp holds all periods. Places are those of `geodesy::map` with these options, as in the files of
/// runs. errors: FileError, those of the map; InvalidArgument without stations or where no row has a
/// frequency.
[[nodiscard]] std::vector<std::string> write_survey(const std::string& path,
                                                    const std::vector<physics::mt::StationData>& stations,
                                                    const physics::mt::ProfileOptions& map = {});

}  // namespace lodestone::io::vtk
