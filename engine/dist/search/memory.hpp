// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the cheapest choices that fit into a memory.
#pragma once

#include "engine/dist/search/eliminate.hpp"

#include <functional>

namespace lodestone::engine {

/// A choice that fits, and how far it may be from the cheapest one.
struct FittingChoice {
  Choice choice;
  double memory = 0.0;  ///< bytes
  double price = 0.0;   ///< cost per byte at which it was found; 0: memory is no matter
  double bound = 0.0;   ///< no choice that fits costs less, as long as the choice is exact
};

/// A function that returns a choice for a graph, the cheapest if it can.
using Solver = std::function<Choice(const CostGraph&)>;

/// Returns the least bytes that a choice of candidates takes.
[[nodiscard]] double least_memory_of(const CostGraph& graph);

/// Returns a choice of no more than so many bytes.
///
/// Bytes get a price. At each price one choice is the cheapest, which bounds the costs of all that fit from
/// below. The next price is the one at which the last choice that fits and the last that does not would cost
/// the same; where nothing is cheaper at that price, the bound is the best there is. Then single variables
/// change while that pays. errors: InvalidArgument if no choice fits, with the least bytes that one takes.
[[nodiscard]] FittingChoice cheapest_within(
    const CostGraph& graph, double bytes,
    const Solver& solve = [](const CostGraph& each) { return cheapest(each); });

}  // namespace lodestone::engine
