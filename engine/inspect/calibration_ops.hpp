// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the list of all that is measured stands apart from how.
// Inside of the engine: functions whose kernels stand for those of all plans.
#pragma once

#include "engine/record/function.hpp"

#include <vector>

namespace lodestone::engine {

/// A function, with the arguments on which its kernels are measured.
struct SampleUse {
  Function f;
  std::vector<Aval> arguments;
};

/// Returns uses of the engine's kernels and of their derivatives on arrays of this dtype, f32 or f64, most of
/// which take some hundred kilobytes.
[[nodiscard]] std::vector<SampleUse> sample_uses(DType dtype);

}  // namespace lodestone::engine
