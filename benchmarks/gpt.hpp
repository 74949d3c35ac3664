// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compile/tree.hpp"
#include "engine/nn/attention.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"

#include <functional>
#include <vector>

namespace lodestone::bench {

struct GptOptions {
  engine::Dim layers = 6, width = 384, heads = 6, words = 256, vocabulary = 1024;
  std::optional<engine::DType> product = {};  ///< dtype of the products of its layers
};

/// A language model: words and positions as vectors, then blocks of causal attention and of a dense part four
/// times as wide. Each part stands behind a layer norm and is added to what came in. source: Radford et al.
/// 2019, "Language models are unsupervised multitask learners", section 2.3
class Gpt : public engine::Module {
 public:
  Gpt(const GptOptions& options, engine::InitialValues& initial);
  /// Returns the logits of the next word. shapes: integers [batch, words] → [batch, words, vocabulary].
  [[nodiscard]] engine::Tensor operator()(const engine::Tensor& text) const;
  /// Returns the logits of the word after this one, for which each layer looks at the first `bucket` places
  /// of its cache; those behind the position do not count. shapes: an integer and its position → [1,
  /// vocabulary].
  [[nodiscard]] engine::Tensor next(const engine::Tensor& word, const engine::Tensor& position,
                                    engine::Dim bucket, const std::vector<engine::KeyValues>& caches) const;
  [[nodiscard]] std::vector<engine::KeyValues> empty_caches() const;

 private:
  using BlockStep = std::function<engine::Tensor(const engine::Tensor& x, const engine::KeyValues& cache,
                                                 const engine::Tensor& position, engine::Dim bucket)>;
  GptOptions options_;
  engine::Embedding embedding_;
  engine::Variable positions_;
  std::vector<engine::Layer> blocks_;
  std::vector<BlockStep> steps_;  ///< one word through each of the blocks
  engine::LayerNorm norm_;
  engine::Linear logits_;
};

/// Continues a text word by word, with what was computed of earlier words in caches.
class GptDecoder {
 public:
  explicit GptDecoder(const Gpt& net);
  /// Takes the next word; returns the logits of the one behind it.
  engine::Tensor next(std::int32_t word);
  [[nodiscard]] engine::CompileStats stats() const { return step_.stats(); }

 private:
  using Step = std::function<engine::Tensor(const engine::Tensor& word, const engine::Tensor& position,
                                            engine::Dim bucket)>;
  std::vector<engine::KeyValues> caches_;
  engine::CompiledOnTrees<Step> step_;
  std::int64_t n_words_ = 0;
};

}  // namespace lodestone::bench
