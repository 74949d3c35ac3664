// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the work of a launch, by what does it. Rates are measured and used by the same words.
#pragma once

#include "engine/compile/cost.hpp"
#include "engine/compile/lower.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Operations that one kernel or function does.
struct WorkPart {
  std::string of;    ///< kernel by the name of its op, function by its text, each with a dtype: "conv f32"
  std::string kind;  ///< class of the op; "function", "arithmetic", or "rows" where these are combined
  DType dtype{};
  double n = 0.0;      ///< as the op's row counts them; elements of the result where it counts none
  double bytes = 0.0;  ///< those of operands and results of the kernel; 0 for a function

  [[nodiscard]] double per_byte() const { return bytes > 0.0 ? n / bytes : 0.0; }
};

/// Returns "window f32".
[[nodiscard]] std::string with_dtype(std::string_view name, DType dtype);
/// Returns the elements that a function is applied to as work.
[[nodiscard]] WorkPart part_of(const FunctionUse& use);

struct LaunchWork {
  std::vector<WorkPart> kernels;
  std::vector<FunctionUse> functions;  ///< those of elementwise ops, of whatever launch they are part
  double flops = 0.0;                  ///< as the op's row counts them
  double bytes = 0.0;                  ///< those of its operands; elements that are repeated count once

  /// Returns kernels and functions.
  [[nodiscard]] std::vector<WorkPart> parts() const;
};
[[nodiscard]] LaunchWork work_of(const Lowered& plan, const Launch& launch);

}  // namespace lodestone::engine
