// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one file of a run.
#pragma once

#include "inversion/outcome.hpp"
#include "io/run/folder.hpp"

#include <filesystem>

namespace lodestone::io::run {

/// Writes a Python script that shows a finished section or volume in ParaView with the colours of the report.
/// It opens the files in the folder "vtk" by paths relative to its own place. Where these are missing they
/// are written as well. Call it on one rank.
///
/// On the map it shows the files in coordinates of the map. A volume is cut along the vertical slices of the
/// report, and the quarter in front of them is taken off. errors: FileError; InvalidArgument for layers.
void write_paraview_view(const RunFolder& folder, const inversion::Outcome& outcome,
                         const std::filesystem::path& script);

}  // namespace lodestone::io::run
