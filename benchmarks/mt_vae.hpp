// SPDX-License-Identifier: Apache-2.0
// The variational autoencoder of 1-D resistivity profiles and one training step of it.
#pragma once

#include "engine/nn/linear.hpp"
#include "engine/nn/module.hpp"
#include "engine/optim/optimizer.hpp"

namespace lodestone::bench {

/// shapes: codes [n, 16] → profiles [n, 32].
class Decoder : public engine::Module {
 public:
  explicit Decoder(engine::InitialValues& initial);
  [[nodiscard]] engine::Tensor operator()(const engine::Tensor& codes) const;

 private:
  engine::Linear dense_;
  engine::Sequential up_;
};

/// Convolutions without bias, BatchNorm, swish; 52 483 parameters.
class MtVae : public engine::Module {
 public:
  explicit MtVae(engine::InitialValues& initial);
  /// Squared misfit, structural similarity over the batch and divergence of the codes. shapes: profiles [n, 32], noise [n, 16] → [].
  [[nodiscard]] engine::Tensor loss(const engine::Tensor& profiles, const engine::Tensor& noise) const;

 private:
  engine::Sequential encoder_;
  engine::Linear mean_, log_variance_;
  Decoder decoder_;
};

/// Batches of 64 profiles, Adam.
class MtVaeStep {
 public:
  explicit MtVaeStep(engine::DType dtype);
  [[nodiscard]] std::int64_t n_parameters() const;
  /// Loss, gradients and update; everything evaluated. → the loss before the update.
  double run() const;

 private:
  explicit MtVaeStep(engine::InitialValues initial);
  MtVae net_;
  engine::Adam adam_;
  engine::Tensor profiles_, noise_;
};

/// Normal numbers, the same for the same stream.
[[nodiscard]] engine::Tensor normals(const engine::Shape& shape, std::uint64_t stream, engine::DType dtype);

}  // namespace lodestone::bench
