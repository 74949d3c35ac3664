// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a search for meshes of so many axes that candidates are too many together.
// Inside of the engine: choices for one mesh axis after the other.
#pragma once

#include "engine/dist/search/eliminate.hpp"

#include <string>

namespace lodestone::engine {

/// The part of each mesh axis in a candidate, per variable, candidate and axis: equal texts for the same.
using RolesOfAxes = std::vector<std::vector<std::vector<std::string>>>;

/// Returns a choice that no other roles of few mesh axes improve, all variables changing them together.
///
/// First one axis at a time changes its roles, as long as that pays; then two at a time, and so on while an
/// elimination takes no more than so many sums. Which axes do not change keep their roles everywhere.
/// `start`: a candidate per variable.
[[nodiscard]] Choice cheapest_in_turn(const CostGraph& graph, const RolesOfAxes& roles,
                                      std::vector<int> start, std::size_t most_entries, double most_work);

}  // namespace lodestone::engine
