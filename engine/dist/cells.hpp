// SPDX-License-Identifier: Apache-2.0
// Small on purpose: cells themselves know nothing of ranks.
// Inside of the engine: cells of which each rank holds a piece.
#pragma once

#include "engine/dist/layout/redistribute.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/variable.hpp"

namespace lodestone::engine {

/// Returns whether some rank has less than all of a tensor.
[[nodiscard]] bool is_in_pieces(const Placement& place, const Shape& shape);
/// Returns the cell that holds the piece of this rank of what another cell holds. It is made where there is
/// none yet: the other one then holds a tensor whose elements cannot be read, with an error that names
/// `gathered`. Returns the cell itself for a placement without pieces. collective where pieces must move.
/// errors: those of `Transport::test`.
[[nodiscard]] Variable cell_of_piece(const Variable& cell, const Placement& place, const World& world);
/// Lets a piece be that of what a cell holds now, whatever was assigned meanwhile. `piece`: what
/// `cell_of_piece` gave. collective and errors as there.
void renew_piece(const Variable& cell, const Variable& piece, const Placement& place, const World& world);

}  // namespace lodestone::engine
