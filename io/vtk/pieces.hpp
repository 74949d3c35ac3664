// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/mpi/rank_zero.hpp"
#include "io/vtk/model_file.hpp"

namespace lodestone::io::vtk {

/// A rank writes so many cells in less than a second (docs/decisions/039-pieces-of-volumes.md).
inline constexpr Eigen::Index cells_per_piece = 250'000;

/// Returns in how many pieces so many ranks write a model. Only volumes have several, of `least` cells or
/// more each.
[[nodiscard]] int n_pieces(const physics::mesh::TensorGrid& grid, int n_ranks,
                           Eigen::Index least = cells_per_piece);

/// Returns the name of a piece: `<stem>.vtu` of a whole model, else `<stem>_<index>.vtu`.
[[nodiscard]] std::string piece_name(const std::string& stem, Piece piece);

/// Writes the file that ParaView opens in place of the pieces of `<stem>` (.pvtu). `arrays`: as
/// `write_model_vtu` returns them. errors: FileError.
void write_pvtu(const std::filesystem::path& folder, const std::string& stem, int count,
                const std::vector<std::string>& arrays);

/// Writes a model as `<stem>.vtu`; each rank writes a piece of a large volume, and rank 0 `<stem>.pvtu`. All
/// ranks hold the same model. Returns the file to open; one of the other ending is removed. collective.
/// errors: those of `write_model_vtu`.
std::filesystem::path write_model(MPI_Comm comm, const std::filesystem::path& folder, const std::string& stem,
                                  const physics::mesh::Model& model, const physics::mesh::Frame& frame = {},
                                  const std::vector<NamedArray>& extra = {},
                                  Eigen::Index least = cells_per_piece);

}  // namespace lodestone::io::vtk
