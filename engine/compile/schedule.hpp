// SPDX-License-Identifier: Apache-2.0
// Small on purpose: clustering asks for an order, and for no way of finding it.
// Inside of the engine: an order in which groups of instructions can run, each as a whole.
#pragma once

#include "engine/program/program.hpp"

namespace lodestone::engine {

/// Returns groups of instructions such that what a group needs stands before it; close to the recorded order:
/// a group stands where its last instruction did, or earlier where others need it. What nobody needs is left
/// out, unless it is an effect. `unit_of`: by instruction, the first one of its group. `same_as`: by
/// value, one that a group which makes it uses instead. errors: InvalidArgument where a path of values leaves
/// a group and comes back.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> scheduled(const Program& program,
                                                                const std::vector<std::uint32_t>& unit_of,
                                                                const std::vector<ValueId>& same_as);

}  // namespace lodestone::engine
