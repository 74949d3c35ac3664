// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/nn/pooling.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "tests/parity/trained_by.hpp"

#include <cmath>

namespace lodestone::tests {
namespace {

using namespace engine;

/// Codes of an image by convolutions, an image of codes by transposed ones. shapes: [n, 16, 16, 1].
class ImageVae : public Module {
 public:
  explicit ImageVae(InitialValues& initial)
      : down_(add("down", Conv(1, 8, initial, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}))),
        norm_(add("norm", BatchNorm(8, initial))),
        codes_(add("codes", Linear(8 * 8 * 8, 8, initial))),
        image_(add("image", Linear(4, 8 * 8 * 8, initial))),
        up_(add("up", ConvTranspose(8, 1, initial,
                                    {.conv = {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
                                     .output_padding = {1, 1}}))) {}

  /// Squared error and divergence of the codes from normal ones.
  [[nodiscard]] Tensor loss(const Tensor& images, const Tensor& noise) const {
    const Tensor codes = codes_(flatten(swish(norm_(down_(images)))));
    const Tensor mean_of = slice(codes, 1, 0, 4), log_variance = slice(codes, 1, 4, 8);
    const Tensor drawn = mean_of + exp(0.5 * log_variance) * noise;
    const Tensor seen = up_(reshape(swish(image_(drawn)), {images.shape()[0], 8, 8, 8}));
    return mean_squared_error(seen, images) + 0.01 * normal_divergence(mean_of, log_variance);
  }

 private:
  Conv down_;
  BatchNorm norm_;
  Linear codes_, image_;
  ConvTranspose up_;
};

/// A block of causal attention and its dense part, between words and logits. shapes: words [n, 12].
class GptBlock : public Module {
 public:
  static constexpr Dim n_words = 12, width = 16, heads = 2, vocabulary = 20;
  explicit GptBlock(InitialValues& initial)
      : words_(add("words", Embedding(vocabulary, width, initial, normal_around(0, 0.1)))),
        first_norm_(add("first_norm", LayerNorm({width}, initial))),
        parts_(add("parts", Linear(width, 3 * width, initial))),
        out_(add("out", Linear(width, width, initial))),
        second_norm_(add("second_norm", LayerNorm({width}, initial))),
        wide_(add("wide", Linear(width, 4 * width, initial))),
        narrow_(add("narrow", Linear(4 * width, width, initial))),
        logits_(add("logits", Linear(width, vocabulary, initial))),
        later_((upper_triangle(ones({n_words, n_words}, initial.dtype()), 1) * -1e9).eval()) {}

  [[nodiscard]] Tensor operator()(const Tensor& text) const {
    const Tensor x = words_(text), y = x + attention(first_norm_(x));
    return logits_(y + narrow_(gelu(wide_(second_norm_(y)))));
  }

 private:
  [[nodiscard]] Tensor attention(const Tensor& x) const {
    const Dim n = x.shape()[0], depth = width / heads;
    const Tensor all = transpose(reshape(parts_(x), {n, n_words, 3, heads, depth}), Axes{2, 0, 3, 1, 4});
    const auto part = [&](Dim i) { return squeeze(slice(all, 0, i, i + 1), 0); };
    const Tensor scores = matmul(part(0), transpose(part(1), Axes{0, 1, 3, 2})) / std::sqrt(double(depth));
    const Tensor seen = matmul(softmax(scores + later_), part(2));
    return out_(reshape(transpose(seen, Axes{0, 2, 1, 3}), {n, n_words, width}));
  }

  Embedding words_;
  LayerNorm first_norm_;
  Linear parts_, out_;
  LayerNorm second_norm_;
  Linear wide_, narrow_, logits_;
  Tensor later_;  // added to the scores: words that are not seen
};

Sequential dense_net(InitialValues& initial) {
  return {Linear(6, 24, initial), swish, LayerNorm({24}, initial), Linear(24, 3, initial)};
}
Tensor dense_loss(const Sequential& net, const Tensors& in) { return mean_squared_error(net(in[0]), in[1]); }

template <class Method, class Options>
Training dense_training(DType dtype, const Options& options) {
  InitialValues initial(5, dtype);
  const Sequential net = dense_net(initial);
  return trained_by(net, Method(net, options), dense_loss,
                    {normals({40, 6}, 1, dtype), normals({40, 3}, 2, dtype)});
}

Training image_vae(DType dtype) {
  InitialValues initial(5, dtype);
  const ImageVae net(initial);
  return trained_by(net, Adam(net, {.learning_rate = 1e-2}),
                    [](const ImageVae& vae, const Tensors& in) { return vae.loss(in[0], in[1]); },
                    {normals({6, 16, 16, 1}, 1, dtype), normals({6, 4}, 2, dtype)});
}

Training gpt_block(DType dtype) {
  InitialValues initial(5, dtype);
  const GptBlock net(initial);
  std::vector<std::int64_t> text;
  for (Dim i = 0; i < 3 * GptBlock::n_words; ++i) text.push_back((i * i + 3) % GptBlock::vocabulary);
  const Tensor words = Tensor::from(text, {3, GptBlock::n_words});
  return trained_by(
      net, AdamW(net, {.learning_rate = 1e-2, .weight_decay = 1e-2}),
      [](const GptBlock& block, const Tensors& in) { return cross_entropy(block(in[0]), flip(in[0], 1)); },
      {words});
}

/// Running statistics, random keys, windows, rates that change.
Training classifier(DType dtype) {
  InitialValues initial(5, dtype);
  const Sequential net{Conv(2, 6, initial, {.window = {3}, .padding = {1}}),
                       BatchNorm(6, initial),
                       swish,
                       MaxPool({.window = {2}}),
                       flatten,
                       Dropout(0.3, initial),
                       Linear(6 * 8, 4, initial)};
  const Tensor labels = Tensor::from(std::vector<std::int64_t>{0, 3, 1, 2, 2, 0, 1, 3}, {8});
  return trained_by(
      net, Sgd(net, {.learning_rate = exponential_decay({.rate = 0.1, .factor = 0.5})}),
      [](const Sequential& layers, const Tensors& in) { return cross_entropy(layers(in[0]), in[1]); },
      {normals({8, 16, 2}, 1, dtype), labels});
}

/// Arrays that threads share.
Training large_layers(DType dtype) {
  InitialValues initial(5, dtype);
  const Sequential net{Linear(192, 256, initial), engine::tanh, LayerNorm({256}, initial),
                       Linear(256, 192, initial)};
  return trained_by(net, Sgd(net, {.learning_rate = 0.1, .momentum = 0.9}), dense_loss,
                    {normals({512, 192}, 1, dtype), normals({512, 192}, 2, dtype)});
}

}  // namespace

Tensor normals(const Shape& shape, std::uint64_t stream, DType dtype, double scale) {
  const core::Philox random(13, stream);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * random.normal(i);
  return cast(Tensor::from(values, shape), dtype).eval();
}

std::vector<TrainingCase> engine_trainings() {
  const auto sgd = [](SgdOptions options) {
    return [options](DType dtype) { return dense_training<Sgd>(dtype, options); };
  };
  const AdamOptions decay{.learning_rate = 1e-2, .weight_decay = 0.1};
  return {{"image VAE", image_vae},
          {"block of a language model", gpt_block},
          {"classifier", classifier},
          {"large layers", large_layers},
          {"gradient descent", sgd({})},
          {"momentum", sgd({.momentum = 0.9, .weight_decay = 0.01})},
          {"Nesterov", sgd({.momentum = 0.9, .kind = Momentum::nesterov})},
          {"Adam", [=](DType dtype) { return dense_training<Adam>(dtype, decay); }},
          {"AdamW", [=](DType dtype) { return dense_training<AdamW>(dtype, decay); }}};
}

}  // namespace lodestone::tests
