// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/train/callback.hpp"
#include "engine/train/parallel.hpp"

#include <filesystem>

namespace lodestone::engine {

/// A measure of the agreement of a prediction with its target. As in any compiled function, numbers and
/// tensors that it captures are constants of a training: see `FitOptions::level`.
using Loss = std::function<Tensor(const Tensor& predicted, const Tensor& target)>;
/// The loss and other figures of a whole batch, for networks with more than one input, output or term.
struct BatchLoss {
  std::function<Tensors(const NamedTensors& batch)> values;  ///< scalars, the loss first
  std::vector<std::string> figures = {};                     ///< names of the others
};

struct ModelOptions {
  std::map<std::string, Loss, std::less<>> metrics = {};  ///< measured beside the loss
  std::string input = "input", target = "target";         ///< names in the batches
  int batches_per_step = 1;                               ///< whose gradients are averaged before a step
  std::optional<double> largest_norm = {};                ///< gradients are clipped to this length
  std::optional<double> largest_value = {};               ///< ... and their elements to this size
  /// The ranks that train together: `data_parallel(world)`. Each makes the same model; none: one process.
  std::optional<Parallel> parallel = {};
};

struct FitOptions {
  std::int64_t epochs = 1;  ///< in all, those before a resume included
  Callbacks callbacks = {};
  std::filesystem::path resume_from = {};  ///< a file that `Checkpoint` wrote; empty: from the beginning
  /// Steps and validation are compiled functions of this level; none: they run op by op. Neither changes a
  /// bit. A loss with a number that the host changes while the network is trained must take it by `fed` or
  /// from a `Variable`: a compiled loss is recorded once. Or it is trained without a level.
  std::optional<Level> level = Level::O1;
  /// Bytes that a step may take for what lives within it, as `CompileOptions::budget`: smaller ones cost
  /// time.
  std::size_t budget = 0;
};

/// The outcome of a training.
struct FitSummary {
  std::int64_t n_epochs = 0, n_steps = 0;
  std::string why_stopped;       ///< "all 20 epochs done", or the reason of a callback
  std::vector<Figures> figures;  ///< one entry for each epoch made in this call
  CompileStats compiled;  ///< calls, recordings and breaks of the steps; where callbacks judge them, or
                          ///< they take several batches each, of their gradients. Zero without a level
};

struct Batch;
/// A network with its loss and optimizer.
class Model {
 public:
  template <std::derived_from<Optimizer> O>
  Model(const Layer& net, const Loss& loss, O optimizer, ModelOptions options = {},
        std::source_location where = std::source_location::current())
      : Model(net, net, supervised(net, loss, options), std::make_shared<const O>(std::move(optimizer)),
              options, where) {}
  /// Without `predict`: the network is called where the loss calls it.
  template <std::derived_from<Optimizer> O>
  Model(const Module& net, BatchLoss loss, O optimizer, ModelOptions options = {},
        std::source_location where = std::source_location::current())
      : Model(net, {}, std::move(loss), std::make_shared<const O>(std::move(optimizer)), options, where) {}

  /// Goes over the training data `epochs` times, and over the validation data after each. A resume continues
  /// bit by bit where the file was written. errors: FileError, FormatError for a file that is missing or does
  /// not fit; those of network, data and callbacks.
  ///
  /// On several ranks each reads and transforms its items of a batch; gradients and figures are those of all.
  /// Files and figures depend on the shards and not on the number of ranks, which a resume may change.
  /// Batches with fewer items than shards are computed by every rank. collective over the world. errors: also
  /// InvalidArgument for a loss that reads values, and for more shards than a batch has items.
  FitSummary fit(const Loader& training, const std::optional<Loader>& validation,
                 const FitOptions& options) const;
  /// Loss and metrics over the rest of the loader's epoch, in evaluation mode: means over items. Every rank
  /// computes all of them.
  [[nodiscard]] Figures evaluate(const Loader& data) const;
  /// Returns the network's output in evaluation mode, evaluated. errors: InvalidArgument for a model of a
  /// batch loss.
  [[nodiscard]] Tensor predict(const Tensor& input) const;

 private:
  Model(const Module& net, std::function<Tensor(const Tensor&)> call, BatchLoss loss,
        std::shared_ptr<const Optimizer> optimizer, ModelOptions options, std::source_location where);
  static BatchLoss supervised(const Layer& net, const Loss& loss, const ModelOptions& options);
  [[nodiscard]] Tensors values_of_batch(const NamedTensors& batch) const;
  [[nodiscard]] Figures means_over(const Loader& data,
                                   const std::function<BatchFigures(const Batch&)>& figures) const;

  Module net_;
  std::function<Tensor(const Tensor&)> call_;
  BatchLoss loss_;
  std::shared_ptr<const Optimizer> optimizer_;
  ModelOptions options_;
  std::source_location where_;        ///< place of the construction, for messages about the loss
  std::vector<std::string> figures_;  ///< "loss" and the others
};

}  // namespace lodestone::engine
