// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the picture of a block and its tests share it.
#pragma once

#include "engine/compile/lower.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lodestone::engine {

/// Bytes of a plan's block that one array, or the workspace of a launch, takes from its first launch to its
/// last use.
struct PlacedPiece {
  std::uint32_t block;
  std::size_t offset, bytes;
  std::uint32_t first, last;  ///< numbers of launches
  std::string what;           ///< "exp of f32[64, 32] (net.cpp:12)"
};

/// Returns the pieces of a plan in the order of their first launches. An array that is written in place of
/// another is a piece of its own.
[[nodiscard]] std::vector<PlacedPiece> placed_pieces(const Lowered& plan);

/// Returns a picture of one block as SVG: launches from left to right, bytes upwards, a rectangle per piece,
/// which says what it is when it is pointed at.
[[nodiscard]] std::string memory_picture(const Lowered& plan, std::uint32_t block);

}  // namespace lodestone::engine
