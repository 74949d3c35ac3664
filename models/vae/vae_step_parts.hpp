// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a training and a look at its step consist of the same parts.
// Inside of models/vae: what a step of a training is made of.
#pragma once

#include "models/vae/train_vae.hpp"
#include "models/vae/vae_draws.hpp"

namespace lodestone::models::vae {

/// Returns the network with its first weights.
[[nodiscard]] Vae new_net(const VaeSetup& setup, const VaeDraws& draws);
/// Returns batches of draws ("cells"), each with normal numbers for the codes ("noise").
[[nodiscard]] engine::Loader training_loader(const VaeDraws& draws, const VaeSetup& setup);
/// Returns the same for numbers of another loader: what an item gets follows from seed, epoch and its number.
[[nodiscard]] engine::BatchTransform with_noise(engine::Dim n_codes);
[[nodiscard]] engine::BatchLoss loss_of(const Vae& net, const earths::Prior& prior, const VaeSetup& setup,
                                        const VaeDraws& draws);
[[nodiscard]] engine::Adam adam_of(const Vae& net, const VaeSetup& setup, std::int64_t steps_per_epoch);

}  // namespace lodestone::models::vae
