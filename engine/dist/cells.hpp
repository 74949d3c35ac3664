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
/// Returns a tensor of the whole's aval that keeps the piece of this rank. Its elements cannot be read; the
/// error names `gathered`.
[[nodiscard]] Tensor kept_piece(const Tensor& piece, const Placement& place, const Variable& cell,
                                const World& world);
/// Returns the piece of this rank of what a cell holds, for a placement. collective where the cell holds
/// pieces of another one. errors: those of `Transport::test`.
[[nodiscard]] Tensor piece_in(const Variable& cell, const Placement& place, const World& world);

}  // namespace lodestone::engine
