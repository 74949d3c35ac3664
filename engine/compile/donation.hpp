// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the plan and who calls it share these types.
// Inside of the engine: which new values of cells may lie in the memory of the old ones.
#pragma once

#include "engine/compile/lower.hpp"

namespace lodestone::engine {

/// An input that nobody needs after a run, and the output that replaces it: a cell before and after.
struct Donor {
  std::uint32_t input, output;
  friend bool operator==(const Donor&, const Donor&) = default;
};

/// Returns whether an output, written by a kernel, may lie in the memory of an input: every read of the input
/// has come before, or the kernel that reads it last writes over it.
[[nodiscard]] bool replaces(const Program& program, const Lowered& lowered, const Donor& donor);

/// Returns the donations that change no bit and lose nothing: the output is written by a kernel, as a whole,
/// when every read of the input has come; or in the place of its last read where the kernel allows it.
/// From then on nothing can fail, so that a run that ends early leaves the input as it was. The caller sees
/// to it that nobody else holds the input.
[[nodiscard]] std::vector<Donation> donations(const Program& program, const Lowered& lowered,
                                              std::span<const Donor> donors);

}  // namespace lodestone::engine
