// SPDX-License-Identifier: Apache-2.0
// Losses: scalars that say how far a prediction is off. All take the prediction first; errors as in
// engine/ops/ops.hpp.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// The treatment of the terms of a loss: one per element, or one per item where classes are summed over.
enum class Reduction : std::uint8_t { mean, sum, none };

/// Returns |p − t|², also of complex numbers.
[[nodiscard]] Tensor mean_squared_error(const Located& predicted, const Tensor& target,
                                        Reduction reduction = Reduction::mean);
/// Returns |p − t|.
[[nodiscard]] Tensor mean_absolute_error(const Located& predicted, const Tensor& target,
                                         Reduction reduction = Reduction::mean);
struct HuberOptions {
  double threshold = 1.0;  ///< up to which a deviation counts squared
  Reduction reduction = Reduction::mean;
};
/// Returns d² / 2 up to the threshold τ, τ (|d| − τ / 2) beyond. source: Huber 1964,
/// doi:10.1214/aoms/1177703732
[[nodiscard]] Tensor huber_loss(const Located& predicted, const Tensor& target,
                                const HuberOptions& options = {});
/// Returns −Σ t log softmax(logits) over the classes, the last axis. shapes: logits [batch…, classes];
/// target: the numbers of the classes, integers [batch…], or their probabilities [batch…, classes]. Numbers
/// outside 0 … classes − 1 contribute nothing.
[[nodiscard]] Tensor cross_entropy(const Located& logits, const Tensor& target,
                                   Reduction reduction = Reduction::mean);
/// Returns −t log p − (1 − t) log(1 − p), p = sigmoid(logits), without overflow; t in 0 … 1.
[[nodiscard]] Tensor binary_cross_entropy(const Located& logits, const Tensor& target,
                                          Reduction reduction = Reduction::mean);
/// Returns the divergence of independent normal distributions from the standard one: (μ² + σ² − 1 − log σ²)
/// / 2. source: Kingma & Welling 2013, arXiv:1312.6114, app. B
[[nodiscard]] Tensor normal_divergence(const Located& mean, const Tensor& log_variance,
                                       Reduction reduction = Reduction::mean);
/// ... and from other normal distributions: (log σ₂² − log σ₁² + (σ₁² + (μ₁ − μ₂)²) / σ₂² − 1) / 2.
struct Normal {
  Tensor mean, log_variance;
};
[[nodiscard]] Tensor normal_divergence(const Normal& from, const Normal& to,
                                       Reduction reduction = Reduction::mean);

struct SimilarityOptions {
  IntList window =
      {};  ///< extents of a Gaussian window that moves over the spatial axes; empty: everything is one window
  double deviation = 1.5;   ///< standard deviation of the Gaussian, in elements
  double luminance = 1e-4;  ///< C1, usually (0.01 · range of the data)²
  double contrast = 9e-4;   ///< C2, usually (0.03 · range)²
};
/// Structural similarity, 1 for equal inputs, the mean over all positions of the window; 1 − it is a loss.
/// shapes: [n, spatial…, channels] (any, where everything is one window). source: Wang et al. 2004,
/// doi:10.1109/TIP.2003.819861, eq. 13
[[nodiscard]] Tensor structural_similarity(const Located& x, const Tensor& y,
                                           const SimilarityOptions& options = {});

/// Not a loss but a figure beside one: the share of items whose largest logit is that of their class. shapes:
/// logits [batch…, classes], labels [batch…].
[[nodiscard]] Tensor accuracy(const Located& logits, const Tensor& labels);

}  // namespace lodestone::engine
