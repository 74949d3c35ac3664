// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/linear.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {
namespace {

/// Returns x W of narrow operands, in their wide dtype.
Tensor widening_product(const Located& x, const Tensor& weight) {
  return widening_dot_general(x, weight, {{-1}, {0}, {}, {}});
}

constexpr double largest_i8 = 127.0;

/// Returns the size of a step for each of the numbers that share the last axes; zeros have any.
Tensor step_of(const Tensor& x, int axis) {
  return maximum(max(abs(x), Axes{axis}, Keep::yes) / largest_i8, 1e-30);
}
Tensor in_steps(const Tensor& x, const Tensor& step) { return cast(round(x / step), DType::i8); }

}  // namespace

Linear::Linear(Dim n_in, Dim n_out, InitialValues& initial, const LinearOptions& options)
    : weight_(add_parameter("weight",
                            initial.draw({n_in, n_out}, options.weight, {double(n_in), double(n_out)}))),
      product_(options.product) {
  if (product_ && !halves.contains(*product_))
    throw core::InvalidArgument("Linear#wrong_product_dtype", "expected products in bf16 or f16, got {}",
                                core::name_of(*product_));
  if (options.bias == Bias::yes)
    bias_ = add_parameter("bias", initial.draw({n_out}, options.initial_bias, {double(n_in), double(n_out)}));
}

Tensor Linear::operator()(const Located& x) const {
  check_channels("Linear", x, weight_.aval().shape[0]);
  const auto narrow = [&](const Tensor& of) { return cast(of, *product_); };
  const Tensor y = product_ ? cast(widening_product({narrow(x.tensor), x.where}, narrow(weight_.value())),
                                   x.tensor.dtype())
                            : matmul(x, weight_.value());
  return bias_ ? y + bias_->value() : y;
}

QuantizedLinear::QuantizedLinear(const Linear& layer)
    : QuantizedLinear(layer.state(), step_of(layer.state().at("weight"), 0)) {}

QuantizedLinear::QuantizedLinear(const NamedTensors& trained, const Tensor& scale)
    : weight_(add_state("weight", in_steps(trained.at("weight"), scale).eval())),
      scale_(add_state("scale", squeeze(scale, 0).eval())) {
  if (const auto bias = trained.find("bias"); bias != trained.end()) bias_ = add_state("bias", bias->second);
}

Tensor QuantizedLinear::operator()(const Located& x) const {
  check_channels("QuantizedLinear", x, weight_.aval().shape[0]);
  const Tensor step = step_of(x.tensor, -1);
  const Tensor sums = widening_product({in_steps(x.tensor, step), x.where}, weight_.value());
  const Tensor y = cast(sums, x.tensor.dtype()) * step * scale_.value();
  return bias_ ? y + bias_->value() : y;
}

Embedding::Embedding(Dim n_items, Dim n_out, InitialValues& initial, const Initializer& weight)
    : weight_(add_parameter("weight", initial.draw({n_items, n_out}, weight, {1.0, double(n_out)}))) {}

Tensor Embedding::operator()(const Located& indices) const {
  return take({weight_.value(), indices.where}, indices);
}

}  // namespace lodestone::engine
