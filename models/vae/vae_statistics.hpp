// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to models/vae; only a training computes statistics.
#pragma once

#include "models/vae/trained_vae.hpp"
#include "models/vae/vae_draws.hpp"

namespace lodestone::models::vae {

/// Computes the statistics of a trained network over the validation draws; mean and covariance are those of
/// the training draws.
[[nodiscard]] VaeStatistics statistics_of(const Vae& net, const VaeDraws& draws);

}  // namespace lodestone::models::vae
