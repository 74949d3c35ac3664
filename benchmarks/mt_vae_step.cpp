// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/mt_vae_step.hpp"

#include "engine/core/random.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <cmath>

namespace lodestone::bench {
namespace {

using namespace engine;

constexpr Dim batch = 64, layers = 32, codes = 16;
constexpr double learning_rate = 8e-4, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;

/// Hands parameters out in the order of their use: new ones the first time, the given ones afterwards.
class Parameters {
 public:
  explicit Parameters(DType dtype) : dtype_(dtype) {}
  explicit Parameters(Tensors given) : given_(std::move(given)), is_new_(false) {}

  /// Normal numbers of this deviation; 0: zeros.
  Tensor take(const Shape& shape, double deviation, double mean = 0.0) {
    if (!is_new_) return given_[next_++];
    const core::Philox random(7, given_.size());
    std::vector<double> values(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = mean + deviation * random.normal(i);
    return given_.emplace_back(cast(Tensor::from(values, shape), dtype_).eval());
  }
  [[nodiscard]] const Tensors& all() const { return given_; }

 private:
  DType dtype_ = DType::f32;
  Tensors given_;
  bool is_new_ = true;
  std::size_t next_ = 0;
};

Tensor dense(Parameters& parameters, const Tensor& x, Dim n_out) {
  const Tensor weights = parameters.take({x.dim(-1), n_out}, 1.0 / std::sqrt(static_cast<double>(x.dim(-1))));
  return matmul(x, weights) + parameters.take({n_out}, 0.0);
}

/// Window 3, same length, BatchNorm, swish.
Tensor block(Parameters& parameters, const Tensor& x, Dim channels) {
  const Tensor weights = parameters.take({3, x.dim(-1), channels}, 1.0 / std::sqrt(3.0 * static_cast<double>(x.dim(-1))));
  const Tensor y = normalize(conv(x, weights, {.low = {1}, .high = {1}}), {0, 1});
  const Tensor scale = parameters.take({channels}, 0.0, 1.0);
  return swish(scale_shift(y, scale, parameters.take({channels}, 0.0)));
}

/// Window 3, twice the length.
Tensor upsample(Parameters& parameters, const Tensor& x, Dim channels) {
  const Tensor weights = parameters.take({3, channels, x.dim(-1)}, 1.0 / std::sqrt(1.5 * static_cast<double>(x.dim(-1))));
  return conv_transpose(x, weights, {2 * x.dim(1)}, {.stride = {2}, .low = {0}, .high = {1}});
}

struct Code {
  Tensor mean, log_variance;
};

Code encode(Parameters& parameters, const Tensor& profiles) {
  Tensor x = expand_dims(profiles, -1);
  for (const Dim channels : {16, 32, 64}) {
    x = block(parameters, x, channels);
    x = max_pool(block(parameters, x, channels), {.window = {2}});
  }
  const Tensor flat = reshape(x, {x.dim(0), -1});
  const Tensor mean = dense(parameters, flat, codes);
  return {mean, dense(parameters, flat, codes)};
}

Tensor decode(Parameters& parameters, const Tensor& code) {
  Tensor x = reshape(swish(dense(parameters, code, 256)), {code.dim(0), 4, 64});
  for (const Dim channels : {32, 16}) {
    x = upsample(parameters, x, channels);
    for (int i = 0; i < 2; ++i) x = block(parameters, x, channels);
  }
  x = upsample(parameters, x, 1);
  return squeeze(conv(x, parameters.take({3, 1, 1}, 0.5), {.low = {1}, .high = {1}}), -1);
}

/// Structural similarity over the whole batch as one window.
Tensor similarity(const Tensor& x, const Tensor& y) {
  constexpr double c1 = 0.02, c2 = 0.06;
  const Tensor mean_x = mean(x), mean_y = mean(y);
  const Tensor covariance = mean((x - mean_x) * (y - mean_y)), var_x = mean(square(x - mean_x)), var_y = mean(square(y - mean_y));
  return (2.0 * mean_x * mean_y + c1) * (2.0 * covariance + c2) / ((square(mean_x) + square(mean_y) + c1) * (var_x + var_y + c2));
}

Tensor loss(Parameters parameters, const Tensor& profiles, const Tensor& noise) {
  const Code code = encode(parameters, profiles);
  const Tensor decoded = decode(parameters, code.mean + exp(0.5 * code.log_variance) * noise);
  const Tensor divergence = -0.5 * mean(1.0 + code.log_variance - square(code.mean) - exp(code.log_variance));
  return mean(square(profiles - decoded)) + 0.06 * (1.0 - similarity(profiles, decoded)) + 0.01 * divergence;
}

Tensor normals(const Shape& shape, double mean, double deviation, std::uint64_t stream, DType dtype) {
  const core::Philox random(11, stream);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = mean + deviation * random.normal(i);
  return cast(Tensor::from(values, shape), dtype).eval();
}

}  // namespace

MtVaeStep::MtVaeStep(DType dtype)
    : dtype_(dtype), profiles_(normals({batch, layers}, 3.0, 0.5, 0, dtype)), noise_(normals({batch, codes}, 0.0, 1.0, 1, dtype)) {
  Parameters parameters(dtype);
  const Code code = encode(parameters, profiles_);
  static_cast<void>(decode(parameters, code.mean));
  parameters_ = parameters.all();
  for (const Tensor& each : parameters_) {
    first_moments_.push_back(zeros_like(each));
    second_moments_.push_back(zeros_like(each));
  }
}

std::int64_t MtVaeStep::n_parameters() const {
  std::int64_t total = 0;
  for (const Tensor& each : parameters_) total += each.count();
  return total;
}

double MtVaeStep::run() {
  ++n_steps_;
  Tensors results;
  {
    const ValueAndGradients at = value_and_grad(
        [&](const Tensors& parameters) -> Tensors { return {loss(Parameters(parameters), profiles_, noise_)}; }, parameters_);
    const double bias_1 = 1.0 - std::pow(beta_1, n_steps_), bias_2 = 1.0 - std::pow(beta_2, n_steps_);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& slope = at.gradients[i];
      first_moments_[i] = beta_1 * first_moments_[i] + (1.0 - beta_1) * slope;
      second_moments_[i] = beta_2 * second_moments_[i] + (1.0 - beta_2) * square(slope);
      parameters_[i] =
          parameters_[i] - (learning_rate / bias_1) * first_moments_[i] / (sqrt(second_moments_[i] * (1.0 / bias_2)) + epsilon);
    }
    results = {cast(at.value, DType::f64)};
  }
  for (const Tensors* list : {&parameters_, &first_moments_, &second_moments_}) results.insert(results.end(), list->begin(), list->end());
  eval(results);
  return results[0].item<double>();
}

}  // namespace lodestone::bench
