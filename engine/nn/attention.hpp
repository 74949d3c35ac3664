// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/linear.hpp"

namespace lodestone::engine {

struct SelfAttentionOptions {
  Dim heads = 1;              ///< parts of the width that attend on their own
  bool causal = false;        ///< a word sees those before it and itself; otherwise all
  LinearOptions linear = {};  ///< options of its four layers
};

/// Keys and values of the words so far in one layer, for texts that go on word by word. shapes: [heads,
/// words, width / heads]
struct KeyValues {
  Variable keys, values;
};
/// Makes cells with room for a number of words, of zeros.
[[nodiscard]] KeyValues empty_key_values(Dim heads, Dim words, Dim depth);

/// Every word takes the values of the words that its query fits, head by head; queries, keys, values and what
/// leaves are linear layers "query", "key", "value" and "out". No array of words times words is kept. shapes:
/// [batch…, words, width] → the same. source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2
class SelfAttention : public Module {
 public:
  /// Makes the layers. errors: InvalidArgument when the width is no multiple of the heads.
  SelfAttention(Dim width, InitialValues& initial, const SelfAttentionOptions& options);
  /// Returns what the words take. errors: ShapeError when the last axis is not the width, or there is no axis
  /// of words.
  [[nodiscard]] Tensor operator()(const Located& x) const;
  /// Returns what one word at a position takes, and puts its key and value into the cells. It looks at the
  /// first `bucket` places of them up to its own, so that one recording serves all positions in a bucket.
  /// shapes: [1, width], integer [] → [1, width]. errors: InvalidArgument when words see those behind them.
  [[nodiscard]] Tensor next(const Located& x, const KeyValues& cache, const Tensor& position,
                            Dim bucket) const;

 private:
  Dim width_, heads_;
  bool causal_;
  Linear query_, key_, value_, out_;
};

}  // namespace lodestone::engine
