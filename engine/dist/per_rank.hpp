// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the one way from functions of whole tensors to functions of pieces.
#pragma once

#include "engine/dist/layout/layout.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/function.hpp"

#include <source_location>
#include <vector>

namespace lodestone::engine {

/// Returns a function of whole tensors, the same on all ranks, that calls f with the pieces of this rank.
/// f returns pieces or terms as `out` says; the whole results are made of them.
///
/// In f a value is the same on the ranks along an axis of the mesh, or each rank's own: pieces and terms are
/// own, and so is what is made of them. The two do not mix. `as_own` and `own_piece` lead from one to the
/// other, collectives of `collectives.hpp` lead back; numbers fit to either. Tensors that f captures count as
/// the same. f is recorded without values at each call; it assigns no cells. Derivatives of the result, and
/// those taken inside of f, are those of one function on all ranks. collective over the mesh. errors:
/// InvalidArgument for layouts that do not fit, inputs with terms, and values that mix or end otherwise than
/// `out` says; those of f.
[[nodiscard]] Function per_rank(const World& world, const DeviceMesh& mesh, std::vector<MeshLayout> in,
                                std::vector<MeshLayout> out, Function f,
                                std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
