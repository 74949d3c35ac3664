// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format.
#pragma once

#include "physics/mesh/earth.hpp"

#include <filesystem>

namespace lodestone::io::model {

/// Writes a section of resistivity, in the layout of the group "model" of result files. errors: FileError;
/// ShapeError; InvalidArgument unless the model is a resistivity of a section.
void write_section_hdf5(const std::filesystem::path& path, const physics::mesh::Model& section);
/// Reads a section of resistivity, or the final section of a result file, of version 1 or 2. errors:
/// FileError, FormatError.
[[nodiscard]] physics::mesh::Model read_section_hdf5(const std::filesystem::path& path);

}  // namespace lodestone::io::model
