// SPDX-License-Identifier: Apache-2.0
// Inside of models/vae: a training in words.
#pragma once

#include "models/vae/train_vae.hpp"

namespace lodestone::models::vae {

/// Everything that decides what comes out, as lines "key = value". What may change between a training and its
/// resume is left out: the patience, and the number of epochs where the learning rate does not depend on it.
[[nodiscard]] std::string setup_text(const earths::Prior& prior, const VaeSetup& setup,
                                     const std::string& data);

struct VaeScores {
  std::int64_t best_epoch = 0;
  double best_loss = 0.0;
  std::int64_t n_epochs = 0, n_steps = 0;
  std::string why_stopped;
};
/// The model card, JSON.
[[nodiscard]] std::string card_of(const earths::Prior& prior, const VaeSetup& setup, const std::string& data,
                                  const VaeStatistics& statistics, const VaeScores& scores);

}  // namespace lodestone::models::vae
