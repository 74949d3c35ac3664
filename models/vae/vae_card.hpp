// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to models/vae; describes a training in words.
#pragma once

#include "models/vae/train_vae.hpp"

namespace lodestone::models::vae {

/// Returns everything that decides the result of a training, as lines "key = value". It leaves out the values
/// that may change before a resume: the patience, and the number of epochs where the learning rate does not
/// depend on it.
[[nodiscard]] std::string setup_text(const earths::Prior& prior, const VaeSetup& setup,
                                     const std::string& data);

/// The end of a training and its best epoch.
struct VaeScores {
  std::int64_t best_epoch = 0;
  double best_loss = 0.0;
  std::int64_t n_epochs = 0, n_steps = 0;
  std::string why_stopped;
};
/// Returns the model card as JSON.
[[nodiscard]] std::string card_of(const earths::Prior& prior, const VaeSetup& setup, const std::string& data,
                                  const VaeStatistics& statistics, const VaeScores& scores);

}  // namespace lodestone::models::vae
