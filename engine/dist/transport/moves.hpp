// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the way from routes to messages, which neither of the two needs.
#pragma once

#include "engine/dist/layout/redistribute.hpp"
#include "engine/dist/transport/transport.hpp"

#include <span>

namespace lodestone::engine {

/// Runs the moves of a step. `from` holds the box of this rank; `to` gets its box, of a step that combines
/// once per part. Ranks without boxes give empty spans. shapes: row-major arrays of `item` bytes per element.
/// collective over the ranks of the step. errors: those of `Transport::test`.
void run_moves(Transport& transport, const RouteStep& step, std::uint64_t number,
               std::span<const std::byte> from, std::span<std::byte> to, std::size_t item);

/// Returns the box of a rank in a list; null if it has none.
[[nodiscard]] const Box* box_of_rank(const std::vector<Holding>& holdings, int rank);

}  // namespace lodestone::engine
