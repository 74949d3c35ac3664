// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
// Activations, beside those that are ops (sigmoid, tanh, swish) or stand in engine/ops/ops.hpp (relu,
// softplus, softmax, log_softmax). errors: as there.
#pragma once

#include "engine/ops/ops.hpp"

namespace lodestone::engine {

[[nodiscard]] Tensor leaky_relu(const Located& x,
                                double negative_slope = 0.01);   ///< x, or negative_slope x where x < 0
[[nodiscard]] Tensor elu(const Located& x, double alpha = 1.0);  ///< x, or alpha (e^x − 1) where x < 0
/// Returns x Φ(x), Φ the normal distribution. source: Hendrycks & Gimpel 2016, arXiv:1606.08415
[[nodiscard]] Tensor gelu(const Located& x);
[[nodiscard]] Tensor silu(const Located& x);     ///< swish by its other name
[[nodiscard]] Tensor flatten(const Located& x);  ///< [n, …] → [n, all others]

}  // namespace lodestone::engine
