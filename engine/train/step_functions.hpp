// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what `Model::fit` computes of batches, as functions that are called again and again.
#pragma once

#include "engine/compile/tree.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/dist/parallelize.hpp"
#include "engine/record/op_by_op.hpp"
#include "engine/train/callback.hpp"
#include "engine/train/model.hpp"

namespace lodestone::engine {

/// A function that is called often: as plans, or op by op without options of them. What it gives is
/// evaluated, and so are the cells that it assigns. Argument: `Tensors` or `NamedTensors`.
template <class Argument>
class Repeated {
 public:
  using Plain = std::function<Tensors(const Argument&)>;
  Repeated(Plain f, const std::optional<CompileOptions>& plans, std::source_location where)
      : f_(std::move(f)) {
    if (plans) compiled_.emplace(f_, *plans, where);
  }
  [[nodiscard]] Tensors operator()(const Argument& argument) const {
    // Who looks on wants to see every op now, which a compiled function would only record.
    if (compiled_ && !ExecutionObserver::is_watching()) return (*compiled_)(argument);
    return run_op_by_op([&](const Tensors&) { return f_(argument); }, {});
  }
  [[nodiscard]] CompileStats stats() const { return compiled_ ? compiled_->stats() : CompileStats{}; }

 private:
  Plain f_;
  std::optional<CompiledOnTrees<Plain>> compiled_;
};

/// A batch, or the items of it that this rank has.
struct Batch {
  NamedTensors arrays;
  std::int64_t n_items = 0;  ///< the items of all ranks
};
/// Returns the next batch of a loader's epoch; none at its end.
[[nodiscard]] std::optional<Batch> next_batch(const Loader& loader);

/// Returns the numbers of a batch, from scalars.
[[nodiscard]] BatchFigures figures_of(const Batch& batch, const Tensors& scalars);

/// A function of batches that is called often, and that ranks run together where there are several. Batches
/// with fewer items than shards are not cut.
class OnBatches {
 public:
  using Plain = Repeated<NamedTensors>::Plain;
  OnBatches(Plain f, const std::optional<CompileOptions>& plans, const std::optional<Parallel>& parallel,
            std::source_location where);
  [[nodiscard]] Tensors operator()(const Batch& batch);
  [[nodiscard]] CompileStats stats() const;

 private:
  [[nodiscard]] Tensors on_ranks(const Batch& batch);
  [[nodiscard]] NamedTensors gathered_arrays(const Batch& batch) const;

  Plain f_;
  std::optional<Parallel> parallel_;
  CompileOptions options_;
  std::source_location where_;
  Repeated<NamedTensors> alone_;
  std::vector<std::string> names_;  ///< arrays of a batch for which `together_` was made
  std::optional<Parallelized> together_;
};

/// The functions of a training.
class StepFunctions {
 public:
  /// Verdict on a step that is recorded: one boolean, true to take it.
  using Verdicts = std::function<Tensor(const StepTensors&)>;
  /// `values`: the loss of a batch and its figures. `states`: cells of the network beside those that are
  /// trained. `where`: the place of the model, for messages.
  StepFunctions(OnBatches::Plain values, std::shared_ptr<const Optimizer> optimizer, Variables states,
                Verdicts verdicts, const ModelOptions& options, const std::optional<CompileOptions>& plans,
                std::source_location where);
  StepFunctions(const StepFunctions&) = delete;
  StepFunctions& operator=(const StepFunctions&) = delete;

  [[nodiscard]] BatchFigures figures(const Batch& batch);
  struct Gradients {
    Tensors gradients;  ///< derivatives of the loss, not clipped
    BatchFigures figures;
  };
  /// Statistics and random keys go on.
  [[nodiscard]] Gradients gradients(const Batch& batch);
  /// Returns the mean of the gradients of several batches.
  [[nodiscard]] Tensors mean(const std::vector<Gradients>& of_batches);
  /// Clips gradients and takes the step.
  void update(const Tensors& gradients);
  /// Does `gradients` and `update` in one.
  [[nodiscard]] BatchFigures step(const Batch& batch);
  /// Does the same where the verdict takes the step; else no cell has changed, and there is nothing.
  [[nodiscard]] std::optional<BatchFigures> judged_step(const Batch& batch);

  /// Returns how steps were run: the calls of `step`, `judged_step` or `gradients`, whichever were more.
  [[nodiscard]] CompileStats stats() const;

 private:
  [[nodiscard]] Tensors gradients_then_values(const NamedTensors& batch) const;
  [[nodiscard]] std::pair<Tensors, Tensors> parted(const Tensors& gradients_then_values) const;
  [[nodiscard]] Tensors figures_then_verdict(const NamedTensors& batch) const;
  [[nodiscard]] Tensors clipped(Tensors gradients) const;
  [[nodiscard]] Tensors mean_of(const Tensors& gradients) const;

  OnBatches::Plain plain_values_;
  std::shared_ptr<const Optimizer> optimizer_;
  Variables states_;
  Verdicts verdicts_;
  std::optional<double> largest_norm_, largest_value_;
  std::source_location where_;
  OnBatches values_, gradients_, step_, judged_step_;
  Repeated<Tensors> mean_, update_;
};

}  // namespace lodestone::engine
