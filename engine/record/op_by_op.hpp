// SPDX-License-Identifier: Apache-2.0
// Small on purpose: compiled functions and trainings share it.
// Inside of the engine: functions that run without a plan.
#pragma once

#include "engine/record/function.hpp"

namespace lodestone::engine {

/// Returns f(inputs), evaluated; the cells that f assigns hold evaluated tensors afterwards. When f throws or
/// a kernel fails, no cell has changed.
[[nodiscard]] Tensors run_op_by_op(const Function& f, const Tensors& inputs);

}  // namespace lodestone::engine
