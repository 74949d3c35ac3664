// SPDX-License-Identifier: Apache-2.0
// Small on purpose: only rows of ops with a decomposition include it.
#pragma once

#include "engine/record/trace.hpp"

namespace lodestone::engine {

/// Returns a row for an op that other ops can express. It is recorded as one node where a backend has a
/// kernel for it, as its decomposition everywhere else. The derivative follows from the decomposition, and so
/// do batches unless the row says what its axes are; a row may replace both by faster ones.
[[nodiscard]] OpInfo composite(std::string name, std::string formula, int n_inputs, DTypes dtypes,
                               std::function<Tensor(const RuleArgs&)> decompose);

/// Returns the decomposition of an op as a function of its inputs; valid while `args` is.
[[nodiscard]] Function decomposition(const RuleArgs& args);

}  // namespace lodestone::engine
