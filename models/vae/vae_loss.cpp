// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_loss.hpp"

#include "engine/core/error.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::models::vae {

using namespace engine;

std::vector<double> cell_weights(LayerWeights kind, const physics::mesh::TensorGrid& grid) {
  if (grid.n_z() < 1 || grid.n_y() < 1)
    throw core::InvalidArgument("models::cell_weights#no_cells", "expected a grid with cells, got {} × {}",
                                grid.n_z(), grid.n_y());
  std::vector<double> result;
  for (std::size_t layer = 0; layer + 1 < grid.z_edges_m().size(); ++layer) {
    const double thickness = grid.z_edges_m()[layer + 1] - grid.z_edges_m()[layer];
    const double weight = kind == LayerWeights::uniform ? 1.0 : std::max(0.1, std::log10(thickness));
    result.insert(result.end(), static_cast<std::size_t>(grid.n_columns()), weight);
  }
  return result;
}

VaeLoss::VaeLoss(const VaeLossOptions& options, const std::vector<double>& weights, double range, DType dtype)
    : options_(options),
      weights_(cast(Tensor::from(weights, {static_cast<Dim>(weights.size())}), dtype).eval()),
      range_(std::max(range, 1e-3)) {
  for (const auto& [name, value] :
       {std::pair{"similarity", options.similarity}, {"divergence", options.divergence}}) {
    if (!(value >= 0.0 && std::isfinite(value)))
      throw core::InvalidArgument("models::VaeLoss#negative_weight",
                                  "expected a weight of the {} that is not negative, got {}", name, value);
  }
}

VaeTerms VaeLoss::operator()(const Vae& net, const Tensor& cells, const Tensor& noise) const {
  const Vae::Codes codes = net.encode(cells);
  const Tensor decoded = net.decode(codes.mean + exp(0.5 * codes.log_variance) * noise);
  VaeTerms terms;
  terms.reconstruction = mean(square(decoded - cells) * weights_);
  terms.dissimilarity =
      1.0 - structural_similarity(cells, decoded, {.luminance = 0.01 * range_, .contrast = 0.03 * range_});
  terms.divergence = normal_divergence(codes.mean, codes.log_variance);
  if (options_.divergence_of == Divergence::sum)
    terms.divergence = static_cast<double>(net.options().n_codes) * terms.divergence;
  terms.loss = terms.reconstruction + options_.similarity * terms.dissimilarity +
               options_.divergence * terms.divergence;
  return terms;
}

}  // namespace lodestone::models::vae
