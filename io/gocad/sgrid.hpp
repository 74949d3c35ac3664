// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/geodesy/map_system.hpp"
#include "physics/mesh/earth.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::gocad {

/// Writes a volume as a GOCAD SGrid: the head, and beside it a table of nodes and cells in ASCII, whose name
/// is that of the head without its ending and "__ascii@@". The property is log10 of the resistivity.
///
/// X, Y and Z are east, north and elevation in the system. I counts along y, J along x, K downwards. Nodes
/// stand in true position, so a draped grid is draped in the file. Numbers are the shortest that read back as
/// the same bits. Returns in words what the file does not hold. errors: FileError; InvalidArgument unless the
/// model is a resistivity of a volume, and for degrees.
[[nodiscard]] std::vector<std::string> write_model(const std::string& path, const physics::mesh::Model& model,
                                                   const geodesy::MapSystem& system = {});

/// Reads an SGrid with a property of cells and a table in ASCII as a volume: x is north and y is east as X
/// and Y count them, z is down. The property is the first whose name has "res" in it, log10 where it has
/// "log". X depends on one of I and J alone, Y on the other, and columns of nodes differ by a shift, the
/// relief. errors: FileError; FormatError with file:line (binary tables, another alignment, missing nodes, a
/// grid of another shape, resistivities out of range).
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Returns whether the bytes start an SGrid.
[[nodiscard]] bool is_sgrid(std::string_view bytes);

}  // namespace lodestone::io::gocad
