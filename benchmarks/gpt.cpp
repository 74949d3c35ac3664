// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gpt.hpp"

#include "engine/nn/activation.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"

#include <fmt/format.h>

namespace lodestone::bench {
namespace {

using namespace engine;

class Block : public Module {
 public:
  Block(const GptOptions& options, InitialValues& initial)
      : norm_of_attention_(add("norm_of_attention", LayerNorm({options.width}, initial))),
        attention_(add(
            "attention",
            SelfAttention(options.width, initial,
                          {.heads = options.heads, .causal = true, .linear = {.product = options.product}}))),
        norm_of_dense_(add("norm_of_dense", LayerNorm({options.width}, initial))),
        wide_(add("wide", Linear(options.width, 4 * options.width, initial, {.product = options.product}))),
        narrow_(
            add("narrow", Linear(4 * options.width, options.width, initial, {.product = options.product}))) {}

  Tensor operator()(const Tensor& x) const { return with_dense_part(x + attention_(norm_of_attention_(x))); }
  [[nodiscard]] Tensor step(const Tensor& x, const KeyValues& cache, const Tensor& position,
                            Dim bucket) const {
    return with_dense_part(x + attention_.next(norm_of_attention_(x), cache, position, bucket));
  }

 private:
  [[nodiscard]] Tensor with_dense_part(const Tensor& y) const {
    return y + narrow_(gelu(wide_(norm_of_dense_(y))));
  }

  LayerNorm norm_of_attention_;
  SelfAttention attention_;
  LayerNorm norm_of_dense_;
  Linear wide_, narrow_;
};

}  // namespace

Gpt::Gpt(const GptOptions& options, InitialValues& initial)
    : options_(options),
      embedding_(
          add("embedding", Embedding(options.vocabulary, options.width, initial, normal_around(0, 0.02)))),
      positions_(
          add_parameter("positions", initial.draw({options.words, options.width}, normal_around(0, 0.02)))),
      norm_(add("norm", LayerNorm({options.width}, initial))),
      logits_(add("logits", Linear(options.width, options.vocabulary, initial, {.bias = Bias::no}))) {
  for (Dim i = 0; i < options.layers; ++i) {
    const Block block = add(fmt::format("block{}", i), Block(options, initial));
    blocks_.emplace_back(block);
    steps_.emplace_back([block](const Tensor& x, const KeyValues& cache, const Tensor& position, Dim bucket) {
      return block.step(x, cache, position, bucket);
    });
  }
}

Tensor Gpt::operator()(const Tensor& text) const {
  Tensor x = embedding_(text) + positions_.value();
  for (const Layer& block : blocks_) x = block(x);
  return logits_(norm_(x));
}

Tensor Gpt::next(const Tensor& word, const Tensor& position, Dim bucket,
                 const std::vector<KeyValues>& caches) const {
  const Tensor place = slice_at(positions_.value(), {{0, position}}, {1, options_.width});
  Tensor x = embedding_(reshape(word, {1})) + place;
  for (std::size_t i = 0; i < steps_.size(); ++i) x = steps_[i](x, caches[i], position, bucket);
  return logits_(norm_(x));
}

std::vector<KeyValues> Gpt::empty_caches() const {
  std::vector<KeyValues> result;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    result.push_back(empty_key_values(options_.heads, options_.words, options_.width / options_.heads));
  return result;
}

GptDecoder::GptDecoder(const Gpt& net)
    : caches_(net.empty_caches()),
      step_(compile(Step([net, caches = caches_](const Tensor& word, const Tensor& position, Dim bucket) {
                      return net.next(word, position, bucket, caches);
                    }),
                    {.breaks = Breaks::refused})) {}

Tensor GptDecoder::next(std::int32_t word) {
  Dim bucket = 64;
  while (bucket <= n_words_) bucket *= 4;
  const Tensor number = Tensor::from(std::vector<std::int32_t>{word}, {});
  return step_(number, n_words_++, static_arg(bucket));
}

}  // namespace lodestone::bench
