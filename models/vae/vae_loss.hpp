// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "models/earths/prior.hpp"
#include "models/vae/vae.hpp"

namespace lodestone::models::vae {

enum class LayerWeights : std::uint8_t {
  log10_thickness,  ///< log10 of a layer's thickness in m, as published; at least 0.1
  uniform,
};
constexpr auto words(LayerWeights) {
  using enum LayerWeights;
  return core::Words<LayerWeights>{{log10_thickness, "log10_thickness"}, {uniform, "uniform"}};
}
enum class Divergence : std::uint8_t {
  mean,  ///< over the codes, as published
  sum,   ///< over the codes: with its weight β this is the β-VAE. source: Higgins et al. 2017,
         ///< openreview.net/forum?id=Sy2fzU9gl
};
constexpr auto words(Divergence) {
  using enum Divergence;
  return core::Words<Divergence>{{mean, "mean"}, {sum, "sum"}};
}

/// Weights of the terms, with the published values.
struct VaeLossOptions {
  LayerWeights layer_weights = LayerWeights::log10_thickness;
  double similarity = 0.06;  ///< w_S
  double divergence = 0.01;  ///< w_KL, or β
  Divergence divergence_of = Divergence::mean;
};

/// Returns w_i of every cell, in the order of the cells. errors: InvalidArgument for a grid without cells.
[[nodiscard]] std::vector<double> cell_weights(LayerWeights kind, const physics::mesh::TensorGrid& grid);

/// The loss of a batch and its terms before their weights, each a number.
struct VaeTerms {
  engine::Tensor loss, reconstruction, dissimilarity, divergence;
};

/// L = mean w (x − x̂)² + w_S (1 − SSIM(x, x̂)) + w_KL · ½ (μ² + σ² − 1 − ln σ²); x̂ is the decoded μ + σ ε.
/// The last term is taken over codes as `Divergence` defines, and is a mean over items. SSIM takes the whole
/// batch as one window. C1 = 0.01 R and C2 = 0.03 R as published; R = max|x| − min|x| of the training draws.
class VaeLoss {
 public:
  /// shapes: `weights` one per cell. `range`: R, decades. errors: InvalidArgument for weights of the terms
  /// that are negative or not finite.
  VaeLoss(const VaeLossOptions& options, const std::vector<double>& weights, double range,
          engine::DType dtype);
  /// shapes: cells [n, n_cells], noise [n, n_codes], standard normal. errors: ShapeError.
  [[nodiscard]] VaeTerms operator()(const Vae& net, const engine::Tensor& cells,
                                    const engine::Tensor& noise) const;

 private:
  VaeLossOptions options_;
  engine::Tensor weights_;
  double range_;
};

}  // namespace lodestone::models::vae
