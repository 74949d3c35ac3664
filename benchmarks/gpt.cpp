// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gpt.hpp"

#include "engine/nn/activation.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::bench {
namespace {

using namespace engine;

/// Every word looks at those before it and at itself. shapes: [batch, words, width] → the same.
class Attention : public Module {
 public:
  Attention(const GptOptions& options, InitialValues& initial)
      : options_(options),
        parts_(add("parts", Linear(options.width, 3 * options.width, initial, {.product = options.product}))),
        out_(add("out", Linear(options.width, options.width, initial, {.product = options.product}))),
        later_((upper_triangle(ones({options.words, options.words}), 1) * -1e9).eval()) {}

  Tensor operator()(const Located& x) const {
    const Dim batch = x.tensor.shape()[0], depth = options_.width / options_.heads;
    const Tensor heads =
        transpose(reshape(parts_(x), {batch, options_.words, 3, options_.heads, depth}), Axes{2, 0, 3, 1, 4});
    const auto part = [&](Dim i) { return squeeze(slice(heads, 0, i, i + 1), 0); };
    const Tensor scores =
        matmul(part(0), transpose(part(1), Axes{0, 1, 3, 2})) / std::sqrt(static_cast<double>(depth));
    const Tensor seen = matmul(softmax(scores + later_), part(2));
    return out_(reshape(transpose(seen, Axes{0, 2, 1, 3}), {batch, options_.words, options_.width}));
  }

 private:
  GptOptions options_;
  Linear parts_, out_;
  Tensor later_;  // added to the scores: words that are not seen
};

class Block : public Module {
 public:
  Block(const GptOptions& options, InitialValues& initial)
      : norm_of_attention_(add("norm_of_attention", LayerNorm({options.width}, initial))),
        attention_(add("attention", Attention(options, initial))),
        norm_of_dense_(add("norm_of_dense", LayerNorm({options.width}, initial))),
        wide_(add("wide", Linear(options.width, 4 * options.width, initial, {.product = options.product}))),
        narrow_(
            add("narrow", Linear(4 * options.width, options.width, initial, {.product = options.product}))) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor y = x + attention_(norm_of_attention_(x));
    return y + narrow_(gelu(wide_(norm_of_dense_(y))));
  }

 private:
  LayerNorm norm_of_attention_;
  Attention attention_;
  LayerNorm norm_of_dense_;
  Linear wide_, narrow_;
};

}  // namespace

Gpt::Gpt(const GptOptions& options, InitialValues& initial)
    : embedding_(
          add("embedding", Embedding(options.vocabulary, options.width, initial, normal_around(0, 0.02)))),
      positions_(
          add_parameter("positions", initial.draw({options.words, options.width}, normal_around(0, 0.02)))),
      norm_(add("norm", LayerNorm({options.width}, initial))),
      logits_(add("logits", Linear(options.width, options.vocabulary, initial, {.bias = Bias::no}))) {
  for (Dim i = 0; i < options.layers; ++i)
    blocks_.emplace_back(add(fmt::format("block{}", i), Block(options, initial)));
}

Tensor Gpt::operator()(const Tensor& text) const {
  Tensor x = embedding_(text) + positions_.value();
  for (const Layer& block : blocks_) x = block(x);
  return logits_(norm_(x));
}

}  // namespace lodestone::bench
