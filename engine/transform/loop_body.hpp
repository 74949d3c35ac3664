// SPDX-License-Identifier: Apache-2.0
// Inside of the transforms: the function of a loop, which runs step after step.
#pragma once

#include "engine/record/trace.hpp"

#include <memory>
#include <mutex>

namespace lodestone::engine {

/// A recorded function made ready to run again and again on arrays of one kind, with the bits of its ops.
class LoopPlan {
 public:
  LoopPlan() = default;
  LoopPlan(const LoopPlan&) = delete;
  LoopPlan& operator=(const LoopPlan&) = delete;
  virtual ~LoopPlan() = default;
  /// Returns the outputs, evaluated. The first outputs, as many as the loop carries, may take the memory of
  /// the first inputs, where nobody else holds it. errors: those of the ops.
  [[nodiscard]] virtual Tensors run(const Tensors& inputs) const = 0;
};

/// The plans of one function of a loop; threads may ask at once. What runs once or twice is not worth a plan,
/// so runs are counted. engine/compile defines it.
class LoopPlans {
 public:
  /// Returns a plan for evaluated inputs like these, with strides and all; null for other values than arrays
  /// and while an `ExecutionObserver` looks on; also as long as the runs so far and the `n_runs` to come do
  /// not pay for it.
  [[nodiscard]] std::shared_ptr<const LoopPlan> at(const Trace& body, const Tensors& like,
                                                   std::size_t n_carry, std::int64_t n_runs);

 private:
  struct Made {
    std::vector<Strides> strides;
    int n_threads;
    std::shared_ptr<const LoopPlan> plan;
  };
  std::mutex mutex_;
  std::int64_t n_runs_ = 0;
  std::vector<Made> made_;
};

}  // namespace lodestone::engine
