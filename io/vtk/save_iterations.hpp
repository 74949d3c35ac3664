// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the other files of this folder need no inversion.
#pragma once

#include "inversion/inversion.hpp"

#include <string>

namespace lodestone::io::vtk {

/// Returns what writes the model of every iteration for ParaView, counted over all stages: `model_0000.vtu` …
/// and `model.pvd`. errors, when a stage begins: FileError.
[[nodiscard]] inversion::Inversion::DirectiveMaker save_models(MPI_Comm comm, std::string folder);

}  // namespace lodestone::io::vtk
