// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the order of sums is tested by itself.
// Inside of the engine: the order in which terms of shards combine.
#pragma once

#include "engine/dist/layout/layout.hpp"
#include "engine/record/tensor.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace lodestone::engine {

/// Neighbouring shards: the first, and the one behind the last.
using ShardRange = std::pair<int, int>;

/// Returns the largest subtrees within a range of n shards, in order. The tree halves its range, ⌊n / 2⌋
/// shards first; ranks of all shards send them to each other. At most 2 log₂ n.
[[nodiscard]] std::vector<ShardRange> subtrees_in(ShardRange range, int n);
/// Returns a and b combined, element by element.
[[nodiscard]] Tensor combined(Terms how, const Tensor& a, const Tensor& b);
/// Returns the terms of a range combined in the order of the tree. `known`: returns the term of a subtree
/// where there is one, else no tensor; all single shards of the range must be in one that it knows.
[[nodiscard]] Tensor combined_in_tree(Terms how, ShardRange range,
                                      const std::function<Tensor(ShardRange)>& known);

}  // namespace lodestone::engine
