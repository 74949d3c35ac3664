// SPDX-License-Identifier: Apache-2.0
// Activations, beside those that are ops: sigmoid, tanh, swish. All elementwise except softmax; errors as in engine/ops/ops.hpp.
#pragma once

#include "engine/tensor/tensor.hpp"

namespace lodestone::engine {

[[nodiscard]] Tensor relu(const Located& x);                                      ///< max(x, 0)
[[nodiscard]] Tensor leaky_relu(const Located& x, double negative_slope = 0.01);  ///< x, or negative_slope x where x < 0
[[nodiscard]] Tensor elu(const Located& x, double alpha = 1.0);                   ///< x, or alpha (e^x − 1) where x < 0
[[nodiscard]] Tensor gelu(const Located& x);      ///< x Φ(x), Φ the normal distribution: Hendrycks & Gimpel 2016, arXiv:1606.08415
[[nodiscard]] Tensor silu(const Located& x);      ///< swish by its other name
[[nodiscard]] Tensor softplus(const Located& x);  ///< log(1 + e^x)
[[nodiscard]] Tensor softmax(const Located& x, int axis = -1);      ///< e^x / Σ e^x along the axis
[[nodiscard]] Tensor log_softmax(const Located& x, int axis = -1);  ///< its logarithm, without overflow
[[nodiscard]] Tensor flatten(const Located& x);                     ///< [n, …] → [n, all others]

}  // namespace lodestone::engine
