// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format.
#pragma once

#include "io/model/read.hpp"

#include <filesystem>

namespace lodestone::io::model {

/// Writes a section or volume of resistivity in the layout of the group "model" of result files. Its scale is
/// that of the model, so that every bit is kept, and its place on the map is kept as well. errors: FileError;
/// ShapeError; InvalidArgument unless the model is a resistivity of a section or volume.
void write_model_hdf5(const std::filesystem::path& path, const physics::mesh::Model& model,
                      const physics::mesh::Frame& frame = {});
/// Reads a section or volume of resistivity in the scale of the file. Of a result file, of version 1 or 2, it
/// reads the final model and the frame of the survey (version 2). errors: FileError, FormatError.
[[nodiscard]] PlacedModel read_placed_hdf5(const std::filesystem::path& path);
/// Reads the model alone. errors: likewise.
[[nodiscard]] physics::mesh::Model read_model_hdf5(const std::filesystem::path& path);
/// Returns true for an HDF5 file with a model that `read_model_hdf5` takes. errors: FileError, FormatError.
[[nodiscard]] bool has_model_hdf5(const std::filesystem::path& path);

}  // namespace lodestone::io::model
