// SPDX-License-Identifier: Apache-2.0
// Small on purpose: plans know no more of hooks.
// Inside of the engine: kernels that run with the elementwise instructions before and behind them.
#pragma once

#include "engine/program/program.hpp"

#include <span>

namespace lodestone::engine {

/// Limits of what runs with a kernel. Beside the work of products and convolutions all behind them that fits
/// pays; norms, and what is before a kernel, have nothing to gain from arrays that stay in the second cache.
struct HookLimits {
  std::size_t operands = 4,                        ///< behind a kernel, beside its result
      functions = 1;                               ///< behind it: elementary ones, such as erf
  std::size_t least_bytes = std::size_t{1} << 20;  ///< least result of a norm, and array before a kernel
  std::ptrdiff_t small_peak = 32768;               ///< a fullest moment of fewer bytes may become fuller
};

/// Returns a program with the same bits in which products, convolutions and norms on the processor run with
/// their neighbours. Elementwise instructions or clusters that make their first operand or take their first
/// result are one launch with them (`hooked_kernel_op`). This array passes through the cache, or is not
/// stored at all. Those behind a kernel take every element of the result at its place; those before it make
/// an array that nobody else needs. No function or effect stands between them, and no path of values leaves a
/// launch and comes back. None makes the fullest moment of the program fuller, unless that has few bytes.
/// `program`: after `clustered`. `inputs`: strides of the program's inputs.
[[nodiscard]] Program hooked(const Program& program, std::span<const Strides> inputs,
                             const HookLimits& limits = {});

}  // namespace lodestone::engine
