// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/callback.hpp"

namespace lodestone::engine {

/// Ends the training at the first loss or gradient that is not finite, before the network takes the step.
/// cost: one pass over the gradients; where it ends, the step is computed twice more, once under watch.
/// errors of `judge`: SolverError with the step and the op in which numbers stopped being finite.
class NanGuard final : public Judge {
 public:
  Verdict judge(Training& training, const Step& step) override;
  [[nodiscard]] std::optional<Tensor> in_graph(const StepTensors& step) const override;
};

struct GradientNormGuardOptions {
  double largest = 0.0;  ///< steps whose gradients are longer than this are skipped, and those whose length
                         ///< is not finite; 0: only the latter
  std::int64_t most_in_a_row = 20;  ///< more of them end the training
};
/// Skips steps whose gradients, as one vector, are too long. The number of steps skipped is state.
/// errors of `judge`: SolverError for too many in a row.
class GradientNormGuard final : public Judge {
 public:
  explicit GradientNormGuard(GradientNormGuardOptions options = {});
  Verdict judge(Training& training, const Step& step) override;
  [[nodiscard]] std::optional<Tensor> in_graph(const StepTensors& step) const override;
  void after_step(Training& training) override;
  [[nodiscard]] std::int64_t n_skipped() const;

 private:
  GradientNormGuardOptions options_;
  Variable n_skipped_, n_in_a_row_;
};

}  // namespace lodestone::engine
