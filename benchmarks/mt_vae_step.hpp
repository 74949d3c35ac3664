// SPDX-License-Identifier: Apache-2.0
// The variational autoencoder of 1-D resistivity profiles and one training step of it, written by hand on tensors.
#pragma once

#include "engine/tensor/tensor.hpp"

namespace lodestone::bench {

/// 52 483 parameters, batches of 64 profiles of 32 layers, codes of 16 numbers, Adam. Convolutions without bias, BatchNorm with the batch's statistics.
class MtVaeStep {
 public:
  explicit MtVaeStep(engine::DType dtype);
  [[nodiscard]] std::int64_t n_parameters() const;
  /// Loss, gradients and update; everything evaluated. → the loss before the update.
  double run();

 private:
  engine::DType dtype_;
  engine::Tensor profiles_, noise_;
  engine::Tensors parameters_, first_moments_, second_moments_;
  int n_steps_ = 0;
};

}  // namespace lodestone::bench
