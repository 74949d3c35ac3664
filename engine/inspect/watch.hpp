// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all that looks at numbers runs a function like this.
#pragma once

#include "engine/compile/inputs.hpp"
#include "engine/inspect/planned_function.hpp"

namespace lodestone::engine {

/// The inputs of a run of a planned function: arguments, copied first where they have gaps, the values that
/// its cells hold, and the numbers that the host gives now.
class GivenInputs {
 public:
  /// Takes the values as they are now. errors: InvalidArgument inside of a transform.
  GivenInputs(const PlannedFunction& function, const Tensors& arguments);
  [[nodiscard]] std::span<const Tensor> all() const { return inputs_.all(); }

 private:
  Inputs inputs_;
};

/// Runs a planned function once and tells the watcher of every instruction. No cell changes. errors: those
/// of `Plan::run`.
Tensors run_watched(const PlannedFunction& function, const GivenInputs& inputs, Watcher& watcher);

}  // namespace lodestone::engine
