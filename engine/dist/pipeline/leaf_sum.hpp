// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the order of sums over leaves is tested by itself.
// Inside of the engine: sums over leaves in a tree that no schedule changes.
#pragma once

#include "engine/dist/collectives/shard_tree.hpp"

#include <map>

namespace lodestone::engine {

/// A sum over leaves that come in any order. It adds in the tree of `combined_in_tree`, and so its bits
/// depend on the number of leaves alone. Leaves in order have at most log₂ n + 1 sums alive.
class LeafSum {
 public:
  explicit LeafSum(int n_leaves) : n_leaves_(n_leaves) {}

  /// Adds the tensors of a leaf, which comes once, and evaluates sums that are complete.
  void add(int leaf, Tensors terms);
  [[nodiscard]] bool is_complete() const { return sums_.size() == 1 && sums_.contains({0, n_leaves_}); }
  [[nodiscard]] std::size_t n_alive() const { return sums_.size(); }
  /// Returns the sum over all leaves. errors: InvalidArgument before all have come.
  [[nodiscard]] const Tensors& total() const;

 private:
  int n_leaves_;
  std::map<ShardRange, Tensors> sums_;  ///< subtrees whose siblings have not come
};

}  // namespace lodestone::engine
