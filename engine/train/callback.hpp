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
enum class Verdict : std::uint8_t { take, skip };
enum class Moment : std::uint8_t { step, epoch };

/// Looks into a training while it runs. What it has to remember is state, so that a resume goes on with it:
/// `add_state` in the constructor.
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

/// A callback that decides on steps. Where there is one, gradients and update of a step are computed apart.
class Judge : public Callback {
 public:
  /// Decides on a step; a skipped step leaves the network as it was before. Errors thrown here end the
  /// training.
  virtual Verdict judge(Training& training, const Step& step) = 0;
};

/// A list of callbacks by value: `callbacks(EarlyStopping({.patience = 5}), Csv("history.csv"))`.
template <std::derived_from<Callback>... C>
[[nodiscard]] Callbacks callbacks(C... each) {
  return {std::make_shared<C>(std::move(each))...};
}

}  // namespace lodestone::engine
