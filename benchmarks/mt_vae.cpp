// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/mt_vae.hpp"

#include "engine/nn/activation.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/nn/pooling.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/variables.hpp"

namespace lodestone::bench {
namespace {

using namespace engine;

constexpr Dim batch = 64, layers = 32, codes = 16;

/// Window 3, same length, BatchNorm, swish.
Layer block(InitialValues& initial, Dim c_in, Dim c_out) {
  return Sequential{
      Conv(c_in, c_out, initial, {.window = {3}, .padding = {1}, .bias = Bias::no}),
      BatchNorm(c_out, initial),
      silu,
  };
}

/// Window 3, twice the length.
Layer upsample(InitialValues& initial, Dim c_in, Dim c_out) {
  return ConvTranspose(c_in, c_out, initial,
                       {.conv = {.window = {3}, .stride = {2}, .padding = {1}, .bias = Bias::no}, .output_padding = {1}});
}

Sequential encoder(InitialValues& initial) {
  std::vector<Layer> result;
  Dim c_in = 1;
  for (const Dim c_out : {16, 32, 64}) {
    result.push_back(block(initial, c_in, c_out));
    result.push_back(block(initial, c_out, c_out));
    result.emplace_back(MaxPool({.window = {2}}));
    c_in = c_out;
  }
  result.emplace_back(flatten);
  return Sequential(result);
}

Sequential up(InitialValues& initial) {
  std::vector<Layer> result;
  Dim c_in = 64;
  for (const Dim c_out : {32, 16}) {
    result.push_back(upsample(initial, c_in, c_out));
    for (int i = 0; i < 2; ++i) result.push_back(block(initial, c_out, c_out));
    c_in = c_out;
  }
  result.push_back(upsample(initial, 16, 1));
  result.emplace_back(Conv(1, 1, initial, {.window = {3}, .padding = {1}, .bias = Bias::no}));
  return Sequential(result);
}

}  // namespace

Tensor normals(const Shape& shape, std::uint64_t stream, DType dtype) {
  const core::Philox random(11, stream);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return cast(Tensor::from(values, shape), dtype).eval();
}

Decoder::Decoder(InitialValues& initial) : dense_(add("dense", Linear(codes, 256, initial))), up_(add("up", up(initial))) {}

Tensor Decoder::operator()(const Tensor& of) const { return squeeze(up_(reshape(swish(dense_(of)), {of.dim(0), 4, 64})), -1); }

MtVae::MtVae(InitialValues& initial)
    : encoder_(add("encoder", encoder(initial))),
      mean_(add("mean", Linear(256, codes, initial))),
      log_variance_(add("log_variance", Linear(256, codes, initial))),
      decoder_(add("decoder", Decoder(initial))) {}

Tensor MtVae::loss(const Tensor& profiles, const Tensor& noise) const {
  const Tensor flat = encoder_(expand_dims(profiles, -1));
  const Tensor mean = mean_(flat), log_variance = log_variance_(flat);
  const Tensor decoded = decoder_(mean + exp(0.5 * log_variance) * noise);
  return mean_squared_error(decoded, profiles) +
         0.06 * (1.0 - structural_similarity(profiles, decoded, {.luminance = 0.02, .contrast = 0.06})) +
         0.01 * normal_divergence(mean, log_variance);
}

MtVaeStep::MtVaeStep(DType dtype) : MtVaeStep(InitialValues(7, dtype)) {}

MtVaeStep::MtVaeStep(InitialValues initial)
    : net_(initial),
      adam_(net_, {.learning_rate = 8e-4}),
      profiles_((3.0 + 0.5 * normals({batch, layers}, 0, initial.dtype())).eval()),
      noise_(normals({batch, codes}, 1, initial.dtype())) {}

std::int64_t MtVaeStep::n_parameters() const {
  std::int64_t total = 0;
  for (const Variable& each : net_.parameters()) total += each.aval().count();
  return total;
}

double MtVaeStep::run() const {
  Tensors results;
  {
    const ValueAndGradients at = value_and_grad([&] { return net_.loss(profiles_, noise_); }, net_.parameters());
    adam_.step(at.gradients);
    results = {cast(at.value, DType::f64)};
  }
  for (const Stateful* each : {static_cast<const Stateful*>(&net_), static_cast<const Stateful*>(&adam_)}) {
    for (const NamedVariable& named : each->variables()) results.push_back(named.variable.value());
  }
  eval(results);
  return results[0].item<double>();
}

}  // namespace lodestone::bench
