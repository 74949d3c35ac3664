// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what joins elementwise ops, and what hooks them to kernels, write the same loads.
// Inside of the engine: values of a program as operands of an expression.
#pragma once

#include "engine/graph/expr.hpp"
#include "engine/program/program.hpp"

#include <map>
#include <string>
#include <utility>

namespace lodestone::engine {

/// The operands of an expression while it is written: each value once for each way in which it is seen.
class ExprLoads {
 public:
  ExprLoads(const Program& program, ExprWriter& writer) : program_(program), writer_(writer) {}
  /// Returns a value in the expression: a number, or an operand that is seen as this shape. `from`: as of
  /// `Expr::Load`.
  [[nodiscard]] ExprId of(ValueId id, const IntList& from, const Shape& shape);
  /// Returns the values that are operands, in their order.
  [[nodiscard]] const std::vector<ValueId>& operands() const { return operands_; }

 private:
  const Program& program_;
  ExprWriter& writer_;
  std::map<std::pair<ValueId, std::string>, ExprId> loads_;
  std::vector<ValueId> operands_;
};

}  // namespace lodestone::engine
