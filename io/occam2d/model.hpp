// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who reads data needs no model.
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>
#include <string_view>

namespace lodestone::io::occam2d {

/// Reads a section from an iteration or startup file of Occam2DMT (OCCAMITER_FLEX). The model file that it
/// names, and the mesh file which that names, are looked for beside it. y counts as the offsets of the sites
/// do: the binding offset is the right edge of the leftmost block. z counts from the level surface.
///
/// Cells are those of the mesh. All must be free, as elements of air, sea or fixed resistivity are not read.
/// The counts of the mesh's head are not used, since files have them off by one; those of the model's layers
/// are. errors: FileError, FormatError with file:line (another format, a count that does not fit, a number
/// that is none or out of range, a fixed element).
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Writes a section as a startup file, and beside it the model and the mesh file. These have its name with
/// the endings `.model` and `.mesh`. Each cell is a block. Numbers are the shortest that read back as the
/// same bits. errors: FileError; InvalidArgument unless the model is a resistivity of a section under a level
/// surface, with rows from 0.
void write_model(const std::string& path, const physics::mesh::Model& model);

/// Returns whether the bytes start an iteration or startup file.
[[nodiscard]] bool is_iteration(std::string_view bytes);

}  // namespace lodestone::io::occam2d
