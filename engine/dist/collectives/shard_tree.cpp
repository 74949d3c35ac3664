// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/collectives/shard_tree.hpp"

#include "engine/ops/ops.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

int middle_of(ShardRange range) { return range.first + (range.second - range.first) / 2; }

void add_subtrees(ShardRange range, ShardRange of, std::vector<ShardRange>& found) {
  if (of.second <= range.first || range.second <= of.first) return;
  if (range.first <= of.first && of.second <= range.second) {
    found.push_back(of);
    return;
  }
  add_subtrees(range, {of.first, middle_of(of)}, found);
  add_subtrees(range, {middle_of(of), of.second}, found);
}

/// Returns the bits that are set in either, for any dtype.
Tensor either(const Tensor& a, const Tensor& b) {
  std::vector<std::byte> bits(a.bytes().begin(), a.bytes().end());
  std::transform(bits.begin(), bits.end(), b.bytes().begin(), bits.begin(), std::bit_or<>());
  return Tensor::from_bytes(bits, a.aval());
}

}  // namespace

std::vector<ShardRange> subtrees_in(ShardRange range, int n) {
  std::vector<ShardRange> found;
  add_subtrees(range, {0, n}, found);
  return found;
}

Tensor combined(Terms how, const Tensor& a, const Tensor& b) {
  switch (how) {
    case Terms::max:
      return maximum(a, b);
    case Terms::min:
      return minimum(a, b);
    case Terms::one:
      return either(a, b);
    default:
      return a + b;
  }
}

Tensor combined_in_tree(Terms how, ShardRange range, const std::function<Tensor(ShardRange)>& known) {
  if (Tensor term = known(range); term.is_valid()) return term;
  const int middle = middle_of(range);
  return combined(how, combined_in_tree(how, {range.first, middle}, known),
                  combined_in_tree(how, {middle, range.second}, known));
}

}  // namespace lodestone::engine
