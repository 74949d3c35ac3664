// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/attention.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/attention.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"

#include <cmath>

namespace lodestone::engine {

SelfAttention::SelfAttention(Dim width, InitialValues& initial, const SelfAttentionOptions& options)
    : width_(width),
      heads_(options.heads),
      causal_(options.causal),
      query_(add("query", Linear(width, width, initial, options.linear))),
      key_(add("key", Linear(width, width, initial, options.linear))),
      value_(add("value", Linear(width, width, initial, options.linear))),
      out_(add("out", Linear(width, width, initial, options.linear))) {
  if (heads_ < 1 || width_ % heads_ != 0)
    throw core::InvalidArgument("SelfAttention#uneven_heads",
                                "expected a number of heads that divides the width {}, got {}", width_,
                                heads_);
}

Tensor SelfAttention::operator()(const Located& x) const {
  check_channels("SelfAttention", x, width_);
  if (x.tensor.rank() < 2)
    throw core::ShapeError("SelfAttention#no_words", "expected [batch…, words, {}], got {} {}", width_,
                           x.tensor.aval().text(), at_line(x.where));
  Shape of_heads = x.tensor.shape();
  of_heads[of_heads.rank() - 1] = heads_;
  of_heads.push_back(width_ / heads_);
  const auto heads_of = [&](const Linear& layer) { return reshape(layer(x), of_heads); };
  const Tensor seen =
      attention({heads_of(query_), x.where}, heads_of(key_), heads_of(value_), {.causal = causal_});
  return out_({reshape(seen, x.tensor.shape()), x.where});
}

KeyValues empty_key_values(Dim heads, Dim words, Dim depth) {
  const auto cell = [&](std::string name) {
    return Variable(std::move(name), zeros({heads, words, depth}).eval(), Variable::Role::state);
  };
  return {cell("keys"), cell("values")};
}

Tensor SelfAttention::next(const Located& x, const KeyValues& cache, const Tensor& position,
                           Dim bucket) const {
  check_channels("SelfAttention", x, width_);
  if (!causal_)
    throw core::InvalidArgument("SelfAttention#not_causal",
                                "expected words that see those before them only, which `causal` states; "
                                "others change when the next word comes");
  const Dim depth = width_ / heads_;
  const auto heads_of = [&](const Linear& layer) {
    return transpose(reshape(layer(x), {1, heads_, depth}), Axes{1, 0, 2});
  };
  const auto with_newest = [&](const Variable& all, const Tensor& newest) {
    all.assign(update_at(all.value(), newest, {{1, position}}));
    return slice(all.value(), 1, 0, bucket);
  };
  const Tensor keys = with_newest(cache.keys, heads_of(key_));
  const Tensor values = with_newest(cache.values, heads_of(value_));
  const Tensor scores =
      matmul(heads_of(query_), transpose(keys, Axes{0, 2, 1})) / std::sqrt(static_cast<double>(depth));
  const Tensor seen = matmul(softmax(select(greater(iota(bucket), position), -1e9, scores)), values);
  return out_({reshape(transpose(seen, Axes{1, 0, 2}), {1, width_}), x.where});
}

}  // namespace lodestone::engine
