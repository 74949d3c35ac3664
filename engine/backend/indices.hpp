// SPDX-License-Identifier: Apache-2.0
// Small on purpose: both backends check indices in the same words.
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"

namespace lodestone::engine {

/// Returns an index that is a value of a tensor. errors: InvalidArgument, with op and line, outside 0 …
/// extent − 1.
[[nodiscard]] inline std::int64_t checked_index(std::int64_t index, Dim extent, const KernelCall& call) {
  if (index < 0 || index >= extent)
    throw core::InvalidArgument(call.op.name + "#index_out_of_range",
                                "expected indices >= 0 and < {}, got {} {}", extent, index,
                                at_line(call.where));
  return index;
}

}  // namespace lodestone::engine
