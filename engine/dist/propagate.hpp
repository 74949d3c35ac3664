// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: which layout each value of a program has, given those of some.
#pragma once

#include "engine/dist/leaves.hpp"

#include <string>
#include <utility>

namespace lodestone::engine {

/// A value whose layout is given.
struct PinnedValue {
  ValueId value = 0;
  MeshLayout layout;
  std::string pin;  ///< for messages
};

/// The layout of each value of a program and the cuts of each instruction, beside the program.
struct LayoutTable {
  std::vector<MeshLayout> values;
  std::vector<LabelCuts> labels;     ///< per instruction
  std::vector<std::string> reasons;  ///< per instruction: whom it follows, or the conflict with its prices
  std::string search = {};           ///< the search that found it; empty: propagation
};

/// The facts from which layouts are propagated.
struct LayoutTask {
  std::vector<PinnedValue> pins = {};
  /// Values of a cell before and after the program: each takes the layout of the other.
  std::vector<std::pair<ValueId, ValueId>> cells = {};
  std::vector<ValueId> held_in_pieces = {};  ///< inputs of which a rank has its piece alone
};

/// Checks that a program has no collectives. errors: InvalidArgument that names one.
void check_for_one_machine(const Program& program);

/// Returns a layout for each value. Pins come first. Then elementwise ops and movements pass layouts on, both
/// ways; then other ops, in their order, each followed by the former again. The rest is whole on every rank.
///
/// At an instruction the layouts of its operands and results propose cuts of labels. Where they disagree,
/// each proposal is priced: bytes that ranks receive, and repeated work. The cheapest wins, ties go by the
/// order of operands. What is fixed stays. Costs count shards, not ranks, so that the table depends on
/// program, task and shards alone. errors: InvalidArgument for collectives in the program.
[[nodiscard]] LayoutTable propagate(const Program& program, const DeviceMesh& mesh, const LayoutTask& task);

}  // namespace lodestone::engine
