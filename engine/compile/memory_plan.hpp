// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: where arrays lie in one block of memory, known before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lodestone::engine {

/// An array in a block, or a workspace: it is written by launch `first`, and launch `last` is the last one
/// that uses it.
struct Piece {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::size_t bytes;
  std::uint32_t first, last;
  std::uint32_t in_place_of = none;  ///< the piece of equal size in whose place it is written by its last use
};

/// The place of each piece in a block.
struct MemoryPlan {
  static constexpr std::size_t alignment = 64;  ///< start of every piece, in bytes
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;  ///< size of the block
};

/// Places the pieces, which come in the order of their first launches, each at the first gap that it fits in.
[[nodiscard]] MemoryPlan placed(std::span<const Piece> pieces);

/// Checks that pieces that live at once do not overlap, that those written in place lie where they should,
/// and that all lie within the block. errors: InvalidArgument that names the pieces.
void verify(std::span<const Piece> pieces, const MemoryPlan& plan);

}  // namespace lodestone::engine
