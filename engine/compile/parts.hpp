// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the compiler, its verifier and reports of work share it.
// Inside of the engine: parts of a concatenation that are written where they will stand.
#pragma once

#include "engine/compile/lower.hpp"

namespace lodestone::engine {

/// Results that a launch may write anywhere, by value, and the segment in which it runs.
struct FreeResults {
  std::vector<bool> is_free;
  std::vector<std::uint32_t> segment;
};

/// Lets free results be written where a concatenation has them, if they are all that it reads there and lie
/// one behind the other: the axis has extents of 1 before it. No output loses the place of an input by that.
/// The concatenation becomes the root of such a part, whose look says where in it. Returns the number of
/// parts.
std::size_t put_parts_in_place(const Program& program, const FreeResults& results,
                               std::vector<std::uint32_t>& roots, std::vector<Look>& looks);

/// Returns whether an operand of a concatenation lies where it stands in the result, so that nothing is
/// copied.
[[nodiscard]] bool stands_in_place(const Lowered& plan, const Launch& launch, std::size_t operand);

/// Returns the bytes that a launch reads and writes, each element of an operand once. What stands in its
/// place is neither.
[[nodiscard]] double bytes_moved(const Lowered& plan, const Launch& launch);

}  // namespace lodestone::engine
