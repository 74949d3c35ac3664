// SPDX-License-Identifier: Apache-2.0
// One training step of the variational autoencoder of 1-D resistivity profiles.
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/optim/optimizer.hpp"
#include "models/vae/vae_loss.hpp"

#include <limits>

namespace lodestone::bench {

/// Batches of 64 profiles, Adam.
class MtVaeStep {
 public:
  explicit MtVaeStep(engine::DType dtype);
  [[nodiscard]] std::int64_t n_parameters() const { return net_.n_parameters(); }
  /// Computes loss, gradients and update; everything evaluated. → the loss before the update.
  double run() const;
  /// Returns the same step as a function without arguments. The object must outlive it.
  [[nodiscard]] engine::Function step() const;
  /// Returns a step that reads its loss before the update.
  [[nodiscard]] engine::Function step_that_reads() const;
  /// Returns the step that reads nothing, compiled.
  [[nodiscard]] engine::Compiled compiled(engine::CompileOptions options) const;

 private:
  /// Records loss, gradients and update. `most`: the loss is read and must not be more; infinite: it is not
  /// read. → the loss before the update, in f64.
  [[nodiscard]] engine::Tensor record(double most = std::numeric_limits<double>::infinity()) const;
  explicit MtVaeStep(engine::InitialValues initial);
  models::vae::Vae net_;
  models::vae::VaeLoss loss_;
  engine::Adam adam_;
  engine::Tensor profiles_, noise_;
};

/// Returns normal numbers, the same for the same stream.
[[nodiscard]] engine::Tensor normals(const engine::Shape& shape, std::uint64_t stream, engine::DType dtype);

}  // namespace lodestone::bench
