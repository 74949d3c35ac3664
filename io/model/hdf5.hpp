// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format.
#pragma once

#include "physics/mesh/earth.hpp"

#include <filesystem>

namespace lodestone::io::model {

/// Writes a section or volume of resistivity in the layout of the group "model" of result files. Its scale is
/// that of the model, so that every bit is kept. errors: FileError; ShapeError; InvalidArgument unless the
/// model is a resistivity of a section or volume.
void write_model_hdf5(const std::filesystem::path& path, const physics::mesh::Model& model);
/// Reads a section or volume of resistivity in the scale of the file. Of a result file, of version 1 or 2, it
/// reads the final model. errors: FileError, FormatError.
[[nodiscard]] physics::mesh::Model read_model_hdf5(const std::filesystem::path& path);

}  // namespace lodestone::io::model
