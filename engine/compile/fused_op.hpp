// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the row has nothing else to show.
// Inside of the engine: the op that clusters of elementwise ops become.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/tile/tile_program.hpp"

namespace lodestone::engine {

/// Returns the row of an op with `TileAttrs`, one cluster or several without order among them. It is not part
/// of the table: users do not record it.
[[nodiscard]] const OpInfo& fused_op();
/// Returns the real operations of a run: one per function and element, and one per random word.
[[nodiscard]] double flops_of(const cpu_backend::TileProgram& program);

}  // namespace lodestone::engine
