// SPDX-License-Identifier: Apache-2.0
// Small on purpose: only rows of ops with a decomposition include it.
#pragma once

#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

/// Returns a row for an op that other ops can express. It is recorded as one node where a backend has a
/// kernel for it, as its decomposition everywhere else. Derivative and batching follow from the
/// decomposition; a row may replace them by faster ones.
[[nodiscard]] OpInfo composite(std::string name, std::string formula, int n_inputs, DTypes dtypes,
                               std::function<Tensor(const RuleArgs&)> decompose);

}  // namespace lodestone::engine
