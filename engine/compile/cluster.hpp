// SPDX-License-Identifier: Apache-2.0
// Small on purpose: plans know no more of clusters.
// Inside of the engine: elementwise instructions and reductions that run as one launch.
#pragma once

#include "engine/program/program.hpp"

namespace lodestone::engine {

/// Largest sizes of a cluster; more would not fit in registers of addresses and the nearest cache.
struct ClusterLimits {
  std::size_t operands = 12, outputs = 4, codes = 256;
};

/// Two instructions of which one uses what the other makes, and which stay apart.
struct RefusedMerge {
  std::uint32_t producer, user;  ///< numbers of instructions
  std::string_view why;          ///< words: "arrays of other sizes"
};

/// Returns a program with the same bits in which clusters of elementwise instructions on the processor, and
/// reductions with them, are one instruction each. Values which only they use never reach memory.
/// Nothing is computed twice. A cluster computes arrays of one number of elements, of one shape but for
/// reshapes in between (`fused_op`). It may combine the elements of rows: of the last axes, each row at most
/// as long as the reduction's kernel takes; then it also has arrays of one element for each row. A cluster
/// that does not may end in one reduction in any order, of a value that nobody else needs
/// (`hooked_kernel_op`). No function or effect stands between its instructions, and no path of values
/// leaves it and comes back. None makes the fullest moment of the program fuller by computing what is needed
/// much later. What nobody needs is left out. `inputs`: strides of the program's inputs, in whose order
/// kernels add. `refused`: takes the elementwise instructions that could not be merged.
[[nodiscard]] Program clustered(const Program& program, std::span<const Strides> inputs,
                                const ClusterLimits& limits = {},
                                std::vector<RefusedMerge>* refused = nullptr);

}  // namespace lodestone::engine
