// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the cheapest choices of variables whose costs are sums of small tables.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace lodestone::engine {

/// The costs of a few variables together. Tables may share their entries.
struct CostTable {
  std::vector<int> variables;                        ///< each once
  std::shared_ptr<const std::vector<double>> costs;  ///< per choice of all of them, the last one fastest
};

/// Variables, of which each takes one of its candidates, and what that costs: the sum of all tables.
struct CostGraph {
  std::vector<int> n_candidates;  ///< per variable, at least 1
  std::vector<CostTable> tables;
  std::vector<std::vector<double>> memory = {};  ///< per variable: bytes by candidate, or nothing for none
};

/// A candidate for each variable.
struct Choice {
  std::vector<int> candidates;
  double cost = 0.0;
  std::size_t largest_table = 0;  ///< entries
  int n_narrowed = 0;             ///< times that candidates were left out, so that a table had room
  [[nodiscard]] bool is_exact() const { return n_narrowed == 0; }
};

/// The entries of a table beyond which candidates are left out.
constexpr std::size_t most_entries_of_search = 10'000'000;

/// Returns the entry of a table for a choice. shapes: a candidate per variable of the graph.
[[nodiscard]] double entry_of(const CostGraph& graph, const CostTable& table,
                              std::span<const int> candidates);
/// Returns the sum of all tables for a choice. shapes: a candidate per variable.
[[nodiscard]] double cost_of(const CostGraph& graph, std::span<const int> candidates);
/// Returns the bytes of a choice.
[[nodiscard]] double memory_of(const CostGraph& graph, std::span<const int> candidates);

/// Returns the sums that an exact elimination takes: entries × candidates of all new tables. It looks at no
/// costs.
[[nodiscard]] double work_of_elimination(const CostGraph& graph);

/// Returns the cheapest choice; of equal ones always the same.
///
/// Variables are eliminated one by one, the one with the smallest new table first: a table over its
/// neighbours then holds the least that it costs. That is exact. Where a table would have more entries than
/// allowed, a variable loses half of its candidates, until it fits. Those stay whose tables allow least.
/// cost: entries of the largest table × candidates, at worst per variable.
[[nodiscard]] Choice cheapest(const CostGraph& graph, std::size_t most_entries = most_entries_of_search);

/// Candidates that are allowed, in rising order, per variable.
using Allowed = std::vector<std::vector<int>>;
/// Returns the cheapest choice of allowed candidates.
[[nodiscard]] Choice cheapest_of(const CostGraph& graph, const Allowed& allowed,
                                 std::size_t most_entries = most_entries_of_search);

}  // namespace lodestone::engine
