// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/training.hpp"

namespace lodestone::engine {

/// The data for judges, between the gradients of a step and the step.
struct Step {
  std::int64_t number = 0;  ///< counted from 1
  double loss = 0.0;        ///< mean over the batches of the step
  Tensors gradients;        ///< for the optimizer's parameters, not clipped
  std::function<void()>
      again;  ///< computes loss and gradients once more from the same state, for looking closer
};
/// Loss and gradients of a step while it is recorded, for one batch.
struct StepTensors {
  Tensor loss;
  const Tensors& gradients;  ///< for the optimizer's parameters, not clipped
};
enum class Verdict : std::uint8_t { take, skip };
enum class Moment : std::uint8_t { step, epoch };

/// Looks into a training while it runs. What it has to remember is state, so that a resume goes on with it:
/// `add_state` in the constructor. On several ranks each has its own, and all act; those that write do so
/// where `Training::is_writer`.
class Callback : public Stateful {
 public:
  virtual ~Callback() = default;
  Callback() = default;
  Callback(const Callback&) = default;
  Callback& operator=(const Callback&) = default;

  /// Runs before the first step, after a state was loaded.
  virtual void begin(Training&) {}
  virtual void after_step(Training&) {}
  /// Runs at the end of an epoch, when its figures are known.
  virtual void after_epoch(Training&) {}
  /// Runs after the functions above of all callbacks: the state is complete and may be saved.
  virtual void save(Training&, Moment) {}
  virtual void end(Training&) {}
};

/// A callback that decides on steps. Where there is one that has to look at every step, gradients and update
/// are computed apart.
class Judge : public Callback {
 public:
  /// Decides on a step; a skipped step leaves the network as it was before. Errors thrown here end the
  /// training.
  virtual Verdict judge(Training& training, const Step& step) = 0;
  /// Returns whether `judge` would take the step and do nothing else, one boolean, by the same numbers; none
  /// where it has to be called for every step. A compiled step then is one plan, and `judge` is called only
  /// for what the boolean refuses. It is asked when the training begins and when a step is recorded.
  [[nodiscard]] virtual std::optional<Tensor> in_graph(const StepTensors&) const { return {}; }
};

/// A list of callbacks by value: `callbacks(EarlyStopping({.patience = 5}), Csv("history.csv"))`.
template <std::derived_from<Callback>... C>
[[nodiscard]] Callbacks callbacks(C... each) {
  return {std::make_shared<C>(std::move(each))...};
}

}  // namespace lodestone::engine
