// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all else knows random words as a part of expressions.
// Inside of the engine: random words that are made where they are needed.
#pragma once

#include "engine/program/program.hpp"

namespace lodestone::engine {

/// Returns a program with the same bits in which clusters, and elementwise instructions alone, make the
/// random words that they take: `random_bits` gives no array there, and is no launch. That holds for words
/// on the processor that one launch alone needs. It must see them element by element in their order: all of
/// them, or one of every few, as a slice gives them. So may a reduction in any order that reads what a
/// cluster makes. To make words again in a second launch would take longer than to read them, so that they
/// are an array. So are words whose key would have to live so long that the peak rises.
[[nodiscard]] Program with_random_loads(const Program& program);

}  // namespace lodestone::engine
