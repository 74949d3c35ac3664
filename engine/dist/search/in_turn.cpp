// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/search/in_turn.hpp"

#include <algorithm>
#include <bit>

namespace lodestone::engine {
namespace {

/// Returns the candidates that differ from the chosen ones in the roles of these axes alone. `axes`: a bit
/// each.
Allowed allowed_by(const RolesOfAxes& roles, const std::vector<int>& chosen, unsigned axes) {
  Allowed all;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& now = roles[i][static_cast<std::size_t>(chosen[i])];
    std::vector<int>& its = all.emplace_back();
    for (std::size_t k = 0; k < roles[i].size(); ++k) {
      bool stays = true;
      for (std::size_t axis = 0; axis < now.size(); ++axis)
        stays = stays && ((axes >> axis & 1U) != 0 || roles[i][k][axis] == now[axis]);
      if (stays) its.push_back(static_cast<int>(k));
    }
  }
  return all;
}

double work_of(const CostGraph& graph, const Allowed& allowed) {
  CostGraph fewer = graph;
  for (std::size_t i = 0; i < allowed.size(); ++i)
    fewer.n_candidates[i] = static_cast<int>(allowed[i].size());
  return work_of_elimination(fewer);
}

}  // namespace

Choice cheapest_in_turn(const CostGraph& graph, const RolesOfAxes& roles, std::vector<int> start,
                        std::size_t most_entries, double most_work) {
  Choice best{std::move(start), 0.0, 0, 1};
  best.cost = cost_of(graph, best.candidates);
  std::size_t n_axes = 0;
  for (const auto& each : roles) n_axes = std::max(n_axes, each[0].size());
  for (std::size_t n_free = 1; n_free < std::max<std::size_t>(n_axes, 2); ++n_free) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (unsigned axes = 1; axes < 1U << n_axes; ++axes) {
        if (static_cast<std::size_t>(std::popcount(axes)) != n_free) continue;
        const Allowed allowed = allowed_by(roles, best.candidates, axes);
        if (n_free > 1 && work_of(graph, allowed) > most_work) return best;
        const Choice next = cheapest_of(graph, allowed, most_entries);
        best.largest_table = std::max(best.largest_table, next.largest_table);
        if (!(next.cost < best.cost)) continue;
        best.candidates = next.candidates;
        best.cost = next.cost;
        has_changed = true;
      }
    }
  }
  return best;
}

}  // namespace lodestone::engine
