// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/linear.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {

Linear::Linear(Dim n_in, Dim n_out, InitialValues& initial, const LinearOptions& options)
    : weight_(add_parameter("weight",
                            initial.draw({n_in, n_out}, options.weight, {double(n_in), double(n_out)}))) {
  if (options.bias == Bias::yes)
    bias_ = add_parameter("bias", initial.draw({n_out}, options.initial_bias, {double(n_in), double(n_out)}));
}

Tensor Linear::operator()(const Located& x) const {
  check_channels("Linear", x, weight_.aval().shape[0]);
  const Tensor y = matmul(x, weight_.value());
  return bias_ ? y + bias_->value() : y;
}

Embedding::Embedding(Dim n_items, Dim n_out, InitialValues& initial, const Initializer& weight)
    : weight_(add_parameter("weight", initial.draw({n_items, n_out}, weight, {1.0, double(n_out)}))) {}

Tensor Embedding::operator()(const Located& indices) const {
  return take({weight_.value(), indices.where}, indices);
}

}  // namespace lodestone::engine
