// SPDX-License-Identifier: Apache-2.0
// Small on purpose: every format of files has a header of its own.
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>
#include <string_view>

namespace lodestone::io::femtic {

/// Reads a model of FEMTIC as a volume: the resistivities of blocks, and `mesh.dat` beside them, whose cells
/// they are. The mesh is one of bricks (HEXA), in m with x to the north, y to the east and z down; its layers
/// of air are left out. errors: FileError (no mesh beside it); FormatError with file:line (another kind of
/// mesh, nodes on no grid, cells or blocks without a number, resistivities out of range). source: Usui 2015
/// (Geophys. J. Int. 202, 828).
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Returns whether the bytes start a list of the blocks of cells.
[[nodiscard]] bool is_resistivity_block(std::string_view bytes);

}  // namespace lodestone::io::femtic
