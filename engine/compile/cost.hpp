// SPDX-License-Identifier: Apache-2.0
// Small on purpose: choices of the compiler and reports count work in the same way.
#pragma once

#include "engine/graph/kernel.hpp"

#include <vector>

namespace lodestone::engine {

/// A function in an expression, with the elements that a run applies it to.
struct FunctionUse {
  const LoopBody* body = nullptr;     ///< null where it combines rows
  const RowBody* row_body = nullptr;  ///< null where it does not
  std::array<DType, Plane::most_inputs> in{};
  double n = 0.0;
};
[[nodiscard]] std::vector<FunctionUse> functions_of(const Expr& expr);

/// Returns the real operations of a call, as its op's row counts them; one per element where it does not.
[[nodiscard]] double flops_of(const OpInfo& op, const Attrs* attrs, std::span<const Aval* const> in,
                              const Aval& out, const std::source_location& where);

}  // namespace lodestone::engine
