// SPDX-License-Identifier: Apache-2.0
// Networks of the kinds that are trained with the engine, small: what compiled functions are tried on.
#pragma once

#include "engine/core/random.hpp"
#include "engine/ops/attention.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::tests {

/// A function of parameters and data that gives a loss and its gradients, or a matrix of derivatives.
struct SampleNetwork {
  std::string name;
  engine::Function f;
  engine::Tensors inputs;
};

/// Makes sample networks of one dtype.
class SampleNetworks {
 public:
  explicit SampleNetworks(engine::DType dtype) : dtype_(dtype) {}
  /// Returns thirty networks.
  [[nodiscard]] std::vector<SampleNetwork> all() const;

 private:
  using Tensor = engine::Tensor;
  using Tensors = engine::Tensors;
  using Dim = engine::Dim;
  using Loss = std::function<Tensor(const Tensors&)>;
  /// Returns normal numbers, which depend on the number of the array.
  [[nodiscard]] Tensor normals(const engine::Shape& shape, std::uint64_t number, double scale = 1.0) const;
  [[nodiscard]] SampleNetwork trained(std::string name, Loss loss, Tensors inputs) const;
  [[nodiscard]] SampleNetwork dense_layers(Dim batch, Dim width, int depth) const;
  [[nodiscard]] SampleNetwork residual_layers(Dim width, int depth) const;
  [[nodiscard]] SampleNetwork convolutions(Dim width, int depth) const;
  /// `heads`: of the op `attention`; none: weights by softmax, which are kept.
  [[nodiscard]] SampleNetwork attention(Dim n_words, Dim width, int n_blocks, Dim heads = 0) const;
  [[nodiscard]] SampleNetwork elementwise_chain(Dim n, int length) const;
  [[nodiscard]] SampleNetwork checkpointed(Dim width, int depth) const;
  [[nodiscard]] SampleNetwork decoder_jacobian(Dim n_codes, Dim width) const;
  [[nodiscard]] SampleNetwork moments(Dim n) const;

  engine::DType dtype_;
};

inline engine::Tensor SampleNetworks::normals(const engine::Shape& shape, std::uint64_t number,
                                              double scale) const {
  const core::Philox random(7, number);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * random.normal(i);
  return cast(Tensor::from(values, shape), dtype_).eval();
}

inline SampleNetwork SampleNetworks::trained(std::string name, Loss loss, Tensors inputs) const {
  const auto f = [loss = std::move(loss)](const Tensors& in) -> Tensors {
    engine::ValueAndGradients found =
        engine::value_and_grad([&](const Tensors& x) -> Tensors { return {loss(x)}; }, in);
    found.gradients.push_back(found.value);
    return found.gradients;
  };
  return {std::move(name), f, std::move(inputs)};
}

inline SampleNetwork SampleNetworks::dense_layers(Dim batch, Dim width, int depth) const {
  Tensors inputs{normals({batch, width}, 0)};
  for (int i = 0; i < depth; ++i) {
    inputs.push_back(normals({width, width}, static_cast<std::uint64_t>(2 * i + 1), 0.5));
    inputs.push_back(normals({width}, static_cast<std::uint64_t>(2 * i + 2)));
  }
  const auto loss = [](const Tensors& in) {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); i += 2) x = tanh(matmul(x, in[i]) + in[i + 1]);
    return mean(square(x));
  };
  return trained(fmt::format("{} dense layers of {} for {}", depth, width, batch), loss, std::move(inputs));
}

inline SampleNetwork SampleNetworks::residual_layers(Dim width, int depth) const {
  Tensors inputs{normals({16, width}, 0)};
  for (int i = 0; i < depth; ++i)
    inputs.push_back(normals({width, width}, static_cast<std::uint64_t>(i + 1), 0.3));
  const auto loss = [](const Tensors& in) {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) x = x + swish(matmul(normalize(x, engine::Axes{1}), in[i]));
    return sum(square(x));
  };
  return trained(fmt::format("{} residual layers of {}", depth, width), loss, std::move(inputs));
}

inline SampleNetwork SampleNetworks::convolutions(Dim width, int depth) const {
  Tensors inputs{normals({8, width, 4}, 0)};
  for (int i = 0; i < depth; ++i) {
    const auto number = static_cast<std::uint64_t>(3 * i);
    inputs.push_back(normals({3, 4, 4}, number + 1, 0.3));
    inputs.push_back(normals({4}, number + 2));
    inputs.push_back(normals({4}, number + 3));
  }
  const auto loss = [](const Tensors& in) {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); i += 3) {
      x = engine::conv(x, in[i], {.low = {1}, .high = {1}});
      x = swish(engine::batch_norm(x, in[i + 1], in[i + 2]).y);
    }
    return mean(square(x));
  };
  return trained(fmt::format("{} convolutions over {}", depth, width), loss, std::move(inputs));
}

inline SampleNetwork SampleNetworks::attention(Dim n_words, Dim width, int n_blocks, Dim heads) const {
  Tensors inputs{normals({2, n_words, width}, 0)};
  for (int i = 0; i < n_blocks; ++i) {
    const auto number = static_cast<std::uint64_t>(5 * i);
    for (std::uint64_t k = 1; k <= 3; ++k) inputs.push_back(normals({width, width}, number + k, 0.2));
    inputs.push_back(normals({width, 4 * width}, number + 4, 0.2));
    inputs.push_back(normals({4 * width, width}, number + 5, 0.2));
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(width));
  const auto seen_by_heads = [heads](const Tensor& x, const Tensors& in, std::size_t first) {
    Tensors parts;
    for (std::size_t k = 0; k < 3; ++k)
      parts.push_back(reshape(matmul(x, in[first + k]), {x.dim(0), x.dim(1), heads, x.dim(2) / heads}));
    return reshape(engine::attention(parts[0], parts[1], parts[2], {.causal = true}), x.shape());
  };
  const auto loss = [=](const Tensors& in) {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); i += 5) {
      const Tensor y = normalize(x, engine::Axes{2});
      const auto seen = [&] {
        const Tensor keys = transpose(matmul(y, in[i + 1]), engine::Axes{0, 2, 1});
        return matmul(softmax(matmul(matmul(y, in[i]), keys) * scale), matmul(y, in[i + 2]));
      };
      x = x + (heads == 0 ? seen() : seen_by_heads(y, in, i));
      const Tensor wide = matmul(normalize(x, engine::Axes{2}), in[i + 3]);
      x = x + matmul(wide * 0.5 * (1.0 + erf(wide * 0.70710678118654752)), in[i + 4]);
    }
    return mean(square(x));
  };
  const std::string by = heads == 0 ? "" : fmt::format(" by {} heads", heads);
  return trained(fmt::format("{} blocks of attention over {} words{}", n_blocks, n_words, by), loss,
                 std::move(inputs));
}

inline SampleNetwork SampleNetworks::elementwise_chain(Dim n, int length) const {
  const auto loss = [length](const Tensors& in) {
    Tensor x = in[0];
    for (int i = 0; i < length; ++i) x = sin(x * in[1]) + in[0];
    return sum(x);
  };
  return trained(fmt::format("chain of {}", length), loss, {normals({n}, 1), normals({n}, 2)});
}

inline SampleNetwork SampleNetworks::checkpointed(Dim width, int depth) const {
  Tensors inputs{normals({16, width}, 0)};
  for (int i = 0; i < depth; ++i)
    inputs.push_back(normals({width, width}, static_cast<std::uint64_t>(i + 1), 0.3));
  const engine::Function layer = engine::checkpoint(
      [](const Tensors& in) -> Tensors { return {tanh(matmul(tanh(matmul(in[0], in[1])), in[1]))}; });
  const auto loss = [layer](const Tensors& in) {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) x = layer({x, in[i]})[0];
    return sum(square(x));
  };
  return trained(fmt::format("{} checkpointed layers", depth), loss, std::move(inputs));
}

inline SampleNetwork SampleNetworks::decoder_jacobian(Dim n_codes, Dim width) const {
  const auto f = [](const Tensors& in) -> Tensors {
    return {engine::jacobian(
        [&](const Tensor& codes) { return matmul(tanh(matmul(codes, in[1]) + in[2]), in[3]); }, in[0])};
  };
  return {fmt::format("Jacobian of a decoder of {} codes", n_codes),
          f,
          {normals({n_codes}, 0), normals({n_codes, width}, 1), normals({width}, 2),
           normals({width, 2 * width}, 3, 0.2)}};
}

inline SampleNetwork SampleNetworks::moments(Dim n) const {
  const auto loss = [](const Tensors& in) {
    const Tensor apart = in[0] - mean(in[0], engine::Axes{0}, engine::Keep::yes);
    const Tensor covariance = matmul(transpose(apart), apart);
    return sum(square(covariance - in[1])) + sum(logsumexp(apart, engine::Axes{1}));
  };
  return trained(fmt::format("moments of {}", n), loss, {normals({n, 12}, 1), normals({12, 12}, 2)});
}

inline std::vector<SampleNetwork> SampleNetworks::all() const {
  std::vector<SampleNetwork> all;
  for (const int depth : {1, 2, 3, 5, 8, 16}) all.push_back(dense_layers(32, 24, depth));
  for (const int depth : {2, 6}) all.push_back(dense_layers(4, 64, depth));
  for (const int depth : {1, 3, 6, 12}) all.push_back(residual_layers(24, depth));
  for (const int depth : {1, 2, 4, 8}) all.push_back(convolutions(32, depth));
  for (const int n_blocks : {1, 2, 4}) all.push_back(attention(12, 16, n_blocks));
  all.push_back(attention(48, 8, 2, 4));
  for (const int length : {3, 10, 40}) all.push_back(elementwise_chain(1000, length));
  for (const int depth : {2, 4}) all.push_back(checkpointed(24, depth));
  for (const Dim n_codes : {2, 8, 16}) all.push_back(decoder_jacobian(n_codes, 32));
  for (const Dim n : {40, 200}) all.push_back(moments(n));
  return all;
}

}  // namespace lodestone::tests
