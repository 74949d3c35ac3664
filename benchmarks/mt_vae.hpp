// SPDX-License-Identifier: Apache-2.0
// One training step of the variational autoencoder of 1-D resistivity profiles.
#pragma once

#include "engine/optim/optimizer.hpp"
#include "models/vae/vae_loss.hpp"

namespace lodestone::bench {

/// Batches of 64 profiles, Adam.
class MtVaeStep {
 public:
  explicit MtVaeStep(engine::DType dtype);
  [[nodiscard]] std::int64_t n_parameters() const { return net_.n_parameters(); }
  /// Loss, gradients and update; everything evaluated. → the loss before the update.
  double run() const;

 private:
  explicit MtVaeStep(engine::InitialValues initial);
  models::vae::Vae net_;
  models::vae::VaeLoss loss_;
  engine::Adam adam_;
  engine::Tensor profiles_, noise_;
};

/// Normal numbers, the same for the same stream.
[[nodiscard]] engine::Tensor normals(const engine::Shape& shape, std::uint64_t stream, engine::DType dtype);

}  // namespace lodestone::bench
