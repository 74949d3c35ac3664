// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: where arrays lie in one block of memory, known before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
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
  std::size_t bytes = 0;       ///< size of the block
  std::size_t most_alive = 0;  ///< bytes of the pieces that live at the fullest launch: no block is smaller
  std::string way;             ///< words: "largest first, first gap"
};

/// Places the pieces, which come in the order of their first launches. Orders by size, size × lifetime,
/// lifetime and arrival are tried, each with the first and with the smallest gap that a piece fits in. They
/// are mended by placing earlier what was on top. The smallest block wins, and one of `most_alive` bytes ends
/// the search. More than 4 096 pieces are placed in the order of arrival only. source: Pisarchyk & Lee 2020,
/// arXiv:2001.03288
[[nodiscard]] MemoryPlan placed(std::span<const Piece> pieces);

/// Returns the bytes of the pieces that live at the fullest launch, without placing them.
[[nodiscard]] std::size_t most_alive(std::span<const Piece> pieces);

/// Checks that pieces that live at once do not overlap, and that all fit into the block. Those written in
/// place must lie where they should. errors: InvalidArgument that names the pieces.
void verify(std::span<const Piece> pieces, const MemoryPlan& plan);

namespace detail {
/// Returns the bytes that a piece takes in a block; also empty arrays have a place.
[[nodiscard]] constexpr std::size_t taken_by(std::size_t bytes) {
  constexpr std::size_t unit = MemoryPlan::alignment;
  return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
}
}  // namespace detail

}  // namespace lodestone::engine
