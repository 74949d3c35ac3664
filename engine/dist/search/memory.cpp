// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/search/memory.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::engine {
namespace {

/// Returns the graph with one more table for each variable that takes memory.
CostGraph with_tables(const CostGraph& graph, const auto& cost_of_bytes) {
  CostGraph result = graph;
  for (std::size_t i = 0; i < graph.memory.size(); ++i) {
    if (graph.memory[i].empty()) continue;
    std::vector<double> costs;
    for (const double bytes : graph.memory[i]) costs.push_back(cost_of_bytes(graph.memory[i], bytes));
    result.tables.push_back(
        {{static_cast<int>(i)}, std::make_shared<const std::vector<double>>(std::move(costs))});
  }
  return result;
}

/// Returns the cheapest choice at a price of bytes. Its cost is that without them.
FittingChoice at_price(const CostGraph& graph, double price, const Solver& solve) {
  const auto priced = [&](const auto&, double bytes) { return price * bytes; };
  FittingChoice found{solve(with_tables(graph, priced)), 0.0, price, 0.0};
  found.choice.cost = cost_of(graph, found.choice.candidates);
  found.memory = memory_of(graph, found.choice.candidates);
  return found;
}

/// Returns the cheapest of the choices that take least memory.
FittingChoice of_least_memory(const CostGraph& graph, const Solver& solve) {
  double dearer = 1.0;  // than any choice beside any other
  for (const CostTable& table : graph.tables) {
    const auto [low, high] = std::ranges::minmax(*table.costs);
    dearer += high - low;
  }
  const auto least_alone = [&](const std::vector<double>& all, double bytes) {
    return bytes > std::ranges::min(all) ? dearer : 0.0;
  };
  FittingChoice found{solve(with_tables(graph, least_alone)), 0.0, 0.0, 0.0};
  found.choice.cost = cost_of(graph, found.choice.candidates);
  found.memory = memory_of(graph, found.choice.candidates);
  return found;
}

/// Lets single variables take other candidates while that is cheaper and fits.
void improve(const CostGraph& graph, double bytes, FittingChoice& found) {
  std::vector<std::vector<const CostTable*>> tables(graph.n_candidates.size());
  for (const CostTable& table : graph.tables) {
    for (const int variable : table.variables) tables[static_cast<std::size_t>(variable)].push_back(&table);
  }
  std::vector<int>& candidates = found.choice.candidates;
  const auto cost_at = [&](std::size_t i) {
    double cost = 0.0;
    for (const CostTable* table : tables[i]) cost += entry_of(graph, *table, candidates);
    return cost;
  };
  const auto memory_at = [&](std::size_t i) {
    const bool has_some = i < graph.memory.size() && !graph.memory[i].empty();
    return has_some ? graph.memory[i][static_cast<std::size_t>(candidates[i])] : 0.0;
  };
  double used = found.memory;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const int before = candidates[i];
      const double others = used - memory_at(i);
      int best = before;
      double least = cost_at(i);
      for (int k = 0; k < graph.n_candidates[i]; ++k) {
        candidates[i] = k;
        const double its = cost_at(i);
        if (!(its < least) || others + memory_at(i) > bytes) continue;
        least = its;
        best = k;
      }
      candidates[i] = best;
      used = others + memory_at(i);
      has_changed = has_changed || best != before;
    }
  }
  found.choice.cost = cost_of(graph, candidates);
  found.memory = memory_of(graph, candidates);
}

}  // namespace

double least_memory_of(const CostGraph& graph) {
  double bytes = 0.0;
  for (const std::vector<double>& each : graph.memory) {
    if (!each.empty()) bytes += std::ranges::min(each);
  }
  return bytes;
}

FittingChoice cheapest_within(const CostGraph& graph, double bytes, const Solver& solve) {
  const double least = least_memory_of(graph);
  if (least > bytes)
    throw core::InvalidArgument(
        "search#memory",
        "expected room for what each rank keeps, at least {:.0f} B, but memory_bytes is "
        "{:.0f}; use more ranks along an axis of the mesh that may cut it, unpin what is "
        "pinned whole, or allow more memory",
        least, bytes);
  FittingChoice over = at_price(graph, 0.0, solve);
  if (over.memory <= bytes) {
    over.bound = over.choice.cost;
    return over;
  }
  FittingChoice fits = of_least_memory(graph, solve);
  constexpr int most_prices = 40;
  double bound = over.choice.cost;
  for (int i = 0; i < most_prices; ++i) {
    const double price = (fits.choice.cost - over.choice.cost) / (over.memory - fits.memory);
    if (!(price > 0.0)) break;  // choices that are not exact may say so
    FittingChoice next = at_price(graph, price, solve);
    const double its = next.choice.cost + price * next.memory, known = fits.choice.cost + price * fits.memory;
    bound = std::max(bound, its - price * bytes);
    fits.price = price;
    if (its >= known - 1e-12 * std::abs(known)) break;
    (next.memory <= bytes ? fits : over) = std::move(next);
  }
  improve(graph, bytes, fits);
  fits.bound = std::min(bound, fits.choice.cost);
  return fits;
}

}  // namespace lodestone::engine
