// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the parts of an instruction that fix the bits of its results.
//
// The shards of the mesh axes that cut a label are its leaves. What is not exact when it is cut, and what is
// reduced, is computed leaf by leaf, so that numbers depend on the shards and not on the ranks.
#pragma once

#include "engine/dist/layout/layout.hpp"
#include "engine/graph/axis_map.hpp"
#include "engine/program/program.hpp"

#include <vector>

namespace lodestone::engine {

/// The cuts of the labels of an instruction, one for each.
using LabelCuts = std::vector<Cut>;

/// Returns what the row of an instruction says of its axes. A label is whole where an operand that is no
/// array depends on it, or a result lacks it though it is free. All labels of an effect are whole.
[[nodiscard]] AxisMap axis_map_of(const Program& program, const Instruction& instruction);
/// Returns whether a label can be cut so. No leaf may be empty where the op does not take empty parts. Terms
/// of a reduced label need room for one more axis per mesh axis.
[[nodiscard]] bool can_cut(const OpInfo& op, const AxisMap& map, int label, const Cut& cut,
                           const DeviceMesh& mesh);
/// Returns whether the leaves of a cut label are computed one by one.
[[nodiscard]] bool runs_by_leaf(const OpInfo& op, const Label& label);

/// Returns the places of all labels that a rank computes.
[[nodiscard]] std::vector<AxisRange> places_of_rank(const AxisMap& map, const LabelCuts& cuts,
                                                    const DeviceMesh& mesh, int rank);
/// Returns the places of the leaves of a label that a rank has, in order.
[[nodiscard]] std::vector<AxisRange> leaves_of_rank(const Label& label, const Cut& cut,
                                                    const DeviceMesh& mesh, int rank);
/// Returns the box of a result for these places; all of it where the map has no labels for it.
[[nodiscard]] Box box_of_result(const AxisMap& map, std::size_t result, const Shape& shape,
                                std::span<const AxisRange> places);
/// Returns the layout of a result of an instruction with such cuts.
[[nodiscard]] MeshLayout layout_of_result(const AxisMap& map, std::size_t result, const Shape& shape,
                                          const LabelCuts& cuts, const DeviceMesh& mesh);
/// Returns the operations of an instruction on whole operands, as its row counts them.
[[nodiscard]] double operations_of(const Program& program, const Instruction& instruction);
/// Returns the mesh with a rank for each shard, on which costs are counted: they do not depend on the number
/// of ranks.
[[nodiscard]] DeviceMesh mesh_of_shards(const DeviceMesh& mesh);

}  // namespace lodestone::engine
