// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the steps of a training.
#pragma once

#include "engine/train/step_functions.hpp"

namespace lodestone::engine {

/// Makes the steps of one call of `Model::fit`, and tells callbacks.
class Fitting {
 public:
  /// `batches_per_step`: whose gradients are averaged.
  Fitting(Training& training, const Callbacks& callbacks, StepFunctions& functions, int batches_per_step);
  enum class Epoch : std::uint8_t { goes_on, is_over };
  /// Takes the next batches of the epoch, if it has any, and makes a step unless a judge refuses it.
  Epoch take_step();

 private:
  enum class Made : std::uint8_t { yes, no };
  using Batches = std::vector<NamedTensors>;
  using AllGradients = std::vector<StepFunctions::Gradients>;
  Epoch take_batches(Batches& batches) const;
  void step_at_once(const NamedTensors& batch);
  Made step_in_parts(const Batches& batches);
  [[nodiscard]] Verdict verdict_on(const Batches& batches, const AllGradients& found, const Tensors& mean,
                                   const Tensors& before);
  void restore(const Tensors& values) const;

  Training& training_;
  const Callbacks& callbacks_;
  StepFunctions& functions_;
  int batches_per_step_;
  std::vector<std::shared_ptr<Judge>> judges_;
  Variables cells_;  ///< those of the network
};

}  // namespace lodestone::engine
