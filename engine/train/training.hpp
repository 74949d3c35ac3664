// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/loader.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/nn/module.hpp"
#include "engine/optim/optimizer.hpp"

#include <filesystem>

namespace lodestone::engine {

/// Figures by name: "loss", metrics, and the same on validation data as "validation_loss", ….
using Figures = std::map<std::string, double, std::less<>>;

/// Loss and figures of a batch, in this order.
struct BatchFigures {
  std::int64_t n_items = 0;
  std::vector<double> values;
};

class Callback;
using Callbacks = std::vector<std::shared_ptr<Callback>>;

/// A training while it runs, as callbacks see it. Its state is everything a resume needs: network ("net"),
/// optimizer ("optimizer"), cursors of the data ("training_data", "validation_data"), callbacks
/// ("callback_0", …) and progress ("progress").
class Training : public Stateful {
 public:
  /// shapes: `figures`, the names of what is averaged over an epoch, the loss first. `world`: the ranks that
  /// train together; none: this process alone.
  Training(const Module& net, const Optimizer& optimizer, const Loader& training,
           const std::optional<Loader>& validation, const Callbacks& callbacks,
           std::vector<std::string> figures, World world = {});

  /// Returns whether this rank writes files and lines for people; one of several does. All have the same
  /// network, figures and state.
  [[nodiscard]] bool is_writer() const { return !world_ || world_->rank() == 0; }
  /// Returns on all ranks whether `here` is true on one of them. What follows clocks or signals must be
  /// decided so, since ranks that do different things wait for each other without end. collective.
  [[nodiscard]] bool any_rank(bool here) const;

  [[nodiscard]] const Module& net() const { return net_; }
  [[nodiscard]] const Optimizer& optimizer() const { return optimizer_; }
  [[nodiscard]] const Loader& data() const { return data_; }
  [[nodiscard]] std::int64_t n_epochs() const;  ///< finished
  [[nodiscard]] std::int64_t n_steps() const { return optimizer_.n_steps(); }
  /// Returns the figures of the epoch that was finished last. errors of `figure`: InvalidArgument, with the
  /// known names.
  [[nodiscard]] const Figures& figures() const { return figures_; }
  [[nodiscard]] double figure(std::string_view name) const;
  /// Returns means over the epoch so far.
  [[nodiscard]] Figures figures_so_far() const;
  /// No step is made after this one.
  void stop(std::string why);
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] const std::string& why_stopped() const { return why_stopped_; }

  // For the loop.
  /// Goes on where a file was written. errors: FileError; FormatError, also for a state that does not fit.
  void resume(const std::filesystem::path& path);
  /// Counts a batch.
  void add_batch(const BatchFigures& batch);
  void finish_epoch(const Figures& validation);

 private:
  Module net_;
  const Optimizer& optimizer_;
  Loader data_;
  World world_;
  std::vector<std::string> names_;
  std::optional<Variable> n_epochs_, is_stopped_, n_items_, sums_;
  Figures figures_;
  std::string why_stopped_;
};

}  // namespace lodestone::engine
