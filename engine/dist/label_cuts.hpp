// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: cuts of labels that the layouts of operands and results mean, and the other way.
#pragma once

#include "engine/dist/leaves.hpp"

namespace lodestone::engine {

/// Operations that cost as much as a byte that is received.
constexpr double operations_per_byte = 16.0;

[[nodiscard]] bool is_cut(std::span<const Cut> cuts);
[[nodiscard]] inline bool is_cut(const MeshLayout& layout) { return is_cut(std::span(layout.cuts)); }

/// Adds the cuts of labels that fit to those there are. Returns whether all did.
bool add_cuts(LabelCuts& cuts, const LabelCuts& more);
/// Makes those labels whole that the row cannot cut so.
void drop_impossible(LabelCuts& cuts, const OpInfo& op, const AxisMap& map, const DeviceMesh& mesh);

/// Returns the cuts of labels that the layout of an operand means, as far as they are possible.
[[nodiscard]] LabelCuts cuts_of_operand(const OpInfo& op, const AxisMap& map, std::size_t operand,
                                        const MeshLayout& layout, const DeviceMesh& mesh);
/// Returns the cuts of labels that the layout of a result means, as far as they are possible.
[[nodiscard]] LabelCuts cuts_of_result(const OpInfo& op, const AxisMap& map, std::size_t result,
                                       const MeshLayout& layout, const DeviceMesh& mesh);
/// Returns the layout of an operand that is nearest to what labels with these cuts need of it.
[[nodiscard]] MeshLayout layout_of_operand(const AxisMap& map, std::size_t operand, const Shape& shape,
                                           const LabelCuts& cuts, const DeviceMesh& mesh);

/// Returns the operations that the ranks of a mesh do beside those of one machine.
[[nodiscard]] double repeated_operations(double operations, const LabelCuts& cuts, const DeviceMesh& mesh);

}  // namespace lodestone::engine
