// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the steps of a training.
#pragma once

#include "engine/train/step_functions.hpp"

namespace lodestone::engine {

/// Returns what all judges among the callbacks say of a recorded step; nothing where one of them has to look
/// at every step, or there is none. `optimizer`: whose gradients they are asked about.
[[nodiscard]] StepFunctions::Verdicts verdicts_in_graph(const Callbacks& callbacks,
                                                        const Optimizer& optimizer);

/// Makes the steps of one call of `Model::fit`, and tells callbacks.
class Fitting {
 public:
  /// `batches_per_step`: whose gradients are averaged. `has_verdicts`: `functions` can judge steps.
  Fitting(Training& training, const Callbacks& callbacks, StepFunctions& functions, int batches_per_step,
          bool has_verdicts);
  enum class Epoch : std::uint8_t { goes_on, is_over };
  /// Takes the next batches of the epoch, if it has any, and makes a step unless a judge refuses it.
  Epoch take_step();

 private:
  enum class Made : std::uint8_t { yes, no };
  using Batches = std::vector<Batch>;
  using AllGradients = std::vector<StepFunctions::Gradients>;
  Epoch take_batches(Batches& batches) const;
  [[nodiscard]] Made step_at_once(const Batch& batch);
  Made step_in_parts(const Batches& batches);
  [[nodiscard]] Verdict verdict_on(const Batches& batches, const AllGradients& found, const Tensors& mean,
                                   const Tensors& before);
  void restore(const Tensors& values) const;

  Training& training_;
  const Callbacks& callbacks_;
  StepFunctions& functions_;
  int batches_per_step_;
  std::vector<std::shared_ptr<Judge>> judges_;
  bool one_plan_;    ///< for a step of one batch
  Variables cells_;  ///< those of the network
};

}  // namespace lodestone::engine
