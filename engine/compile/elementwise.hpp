// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what hooks elementwise ops to kernels, and what joins them to tables, ask the same.
// Inside of the engine: instructions that take element after element.
#pragma once

#include "engine/graph/expr.hpp"
#include "engine/program/program.hpp"

#include <optional>

namespace lodestone::engine {

/// Elementwise instructions as an expression of some values.
struct Elementwise {
  Expr expr;
  std::vector<ValueId> operands;  ///< those of its loads, in their order
};

/// Returns what a cluster or an elementwise instruction on a processor computes; nothing for others.
[[nodiscard]] std::optional<Elementwise> elementwise(const Program& program, const Instruction& each);

}  // namespace lodestone::engine
