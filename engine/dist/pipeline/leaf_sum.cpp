// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/leaf_sum.hpp"

#include "engine/core/error.hpp"

namespace lodestone::engine {
namespace {

struct Family {
  ShardRange parent, sibling;
};

/// Returns what lies above and beside a subtree of the tree over n leaves, which is not the root.
Family family_of(ShardRange range, int n) {
  ShardRange at{0, n};
  for (;;) {
    const int middle = at.first + (at.second - at.first) / 2;
    const ShardRange left{at.first, middle}, right{middle, at.second};
    if (range == left) return {at, right};
    if (range == right) return {at, left};
    at = range.first < middle ? left : right;
  }
}

}  // namespace

void LeafSum::add(int leaf, Tensors terms) {
  ShardRange range{leaf, leaf + 1};
  while (range != ShardRange{0, n_leaves_}) {
    const Family family = family_of(range, n_leaves_);
    const auto found = sums_.find(family.sibling);
    if (found == sums_.end()) break;
    const bool is_left = range < family.sibling;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Tensor& other = found->second[i];
      terms[i] = is_left ? combined(Terms::sum, terms[i], other) : combined(Terms::sum, other, terms[i]);
    }
    eval(terms);
    sums_.erase(found);
    range = family.parent;
  }
  sums_[range] = std::move(terms);
}

const Tensors& LeafSum::total() const {
  if (!is_complete())
    throw core::InvalidArgument("LeafSum#incomplete", "expected the terms of all {} leaves, got {} sums",
                                n_leaves_, sums_.size());
  return sums_.begin()->second;
}

}  // namespace lodestone::engine
