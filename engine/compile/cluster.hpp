// SPDX-License-Identifier: Apache-2.0
// Small on purpose: plans know no more of clusters.
// Inside of the engine: elementwise instructions that run as one launch.
#pragma once

#include "engine/program/program.hpp"

namespace lodestone::engine {

/// Largest sizes of a cluster; more would not fit in registers of addresses and the nearest cache.
struct ClusterLimits {
  std::size_t operands = 12, outputs = 4, codes = 256;
};

/// Returns a program with the same bits in which clusters of elementwise instructions on the processor are
/// one instruction each (`fused_op`), so that values which only they use never reach memory. Nothing is
/// computed twice. A cluster computes arrays of one number of elements, of one shape but for
/// reshapes in between; no function or effect stands between its
/// instructions, and no path of values leaves it and comes back. What nobody needs is left out.
[[nodiscard]] Program clustered(const Program& program, const ClusterLimits& limits = {});

}  // namespace lodestone::engine
