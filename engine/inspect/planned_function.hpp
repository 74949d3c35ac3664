// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all that looks at a function before it runs starts here.
#pragma once

#include "engine/compile/plan.hpp"
#include "engine/compile/recorded_function.hpp"

#include <memory>
#include <string>
#include <vector>

namespace lodestone::engine {

/// A function that was recorded and planned as `compile` would do it, but not run.
struct PlannedFunction {
  RecordedFunction recorded;
  std::vector<Strides> strides;  ///< those of the inputs of the program
  Level level;
  std::shared_ptr<const Plan> plan;

  /// Returns the names of the program's inputs: "argument 0", "encoder.0.weight" for cells, as `cells` names
  /// them or else by their own names, "number 0" for numbers that the host feeds.
  [[nodiscard]] std::vector<std::string> input_names(const std::vector<NamedVariable>& cells = {}) const;
};

/// Records f for arguments of these abstract values and makes its plan; no array of it is made but constants.
/// `budget`: as in `CompileOptions`. errors: those of f and `plan_or_recorded`; InvalidArgument with the line
/// where f reads values of its arguments or cells, and inside of a transform.
[[nodiscard]] PlannedFunction planned_function(const Function& f, std::span<const Aval> arguments,
                                               Level level, std::source_location where,
                                               std::size_t budget = 0);

}  // namespace lodestone::engine
