// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"

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

 private:
  engine::Embedding embedding_;
  engine::Variable positions_;
  std::vector<engine::Layer> blocks_;
  engine::LayerNorm norm_;
  engine::Linear logits_;
};

}  // namespace lodestone::bench
