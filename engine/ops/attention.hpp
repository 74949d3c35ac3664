// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
#pragma once

#include "engine/record/tensor.hpp"

#include <optional>

namespace lodestone::engine {

struct AttentionOptions {
  std::optional<double> scale = {};  ///< factor of scores; none: depth^(-1/2)
  bool causal = false;  ///< query i of n sees keys 0 … i + (number of keys) − n: the last sees all
};
/// Returns the values weighted by the softmax of scale · (query · key) over the keys, head by head. Neither
/// it nor its gradient keeps an array of queries times keys; derivatives of higher order do. shapes: q
/// [batch…, words, heads, depth], k the same with its own number of words, v those of k with columns of its
/// own; result [batch…, words of q, heads, columns of v]. errors: ShapeError for other shapes, no keys, and,
/// where causal, fewer keys than queries. source: Vaswani et al. 2017, arXiv:1706.03762, eq. 1; Dao et al.
/// 2022, arXiv:2205.14135
[[nodiscard]] Tensor attention(const Located& q, const Located& k, const Located& v,
                               const AttentionOptions& options = {});

}  // namespace lodestone::engine
