// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the kernel of random bits and clusters that make their own share it.
// Words of Philox by their index: an array of them, or a part of one.
#pragma once

#include "engine/core/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lodestone::engine::cpu_backend {

/// Nanoseconds per byte of words on one thread, roughly.
inline constexpr double ns_per_byte_of_words = 0.15;
/// Words of a step that are farther apart than this do not pay: those in between are computed, too.
inline constexpr std::int64_t longest_step_of_words = 4;

/// Takes one word of each step: that with this number, below the length of a step.
struct WordLane {
  std::int64_t number;
  std::byte* out;
};
/// Writes one word of each of n steps to each lane. The steps follow one another from the one with the number
/// `first` on, where step 0 begins at the position of the key. `key`: seed, stream and position. A word is
/// u32, or u64 of two of them.
void fill_words(core::DType dtype, const std::uint64_t* key, std::int64_t first, std::int64_t step,
                std::int64_t n, std::span<const WordLane> lanes);

}  // namespace lodestone::engine::cpu_backend
