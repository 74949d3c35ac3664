// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what one rank does of a program whose values have layouts.
#pragma once

#include "engine/dist/propagate.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/function.hpp"

namespace lodestone::engine {

/// A program with its table and with the layouts in which inputs come and outputs go.
struct CutProgram {
  Program program;
  LayoutTable table;
  std::vector<MeshLayout> inputs, outputs;
  DeviceMesh mesh;
};

/// Returns a function of the boxes of the inputs that this rank has: those of the outputs.
///
/// It records each instruction for the places of this rank, leaf by leaf where that decides on bits. The
/// moves that bring the operands there stand before it. Terms of a reduced label combine at once, in the
/// order of the tree over the leaves. All ranks of the mesh record the same collectives in the same order.
[[nodiscard]] Function partition(std::shared_ptr<const CutProgram> cut, World world);

/// Counts of the bytes that all ranks receive.
struct Movement {
  std::vector<std::int64_t> instructions;  ///< per instruction: for its operands and its results
  std::int64_t outputs = 0;                ///< to give outputs their layouts
};
/// Returns the bytes that the moves of a program take. It sends nothing.
[[nodiscard]] Movement movement_of(const CutProgram& cut);

}  // namespace lodestone::engine
