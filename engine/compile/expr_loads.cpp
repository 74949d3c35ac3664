// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/expr_loads.hpp"

#include "engine/compile/number_of.hpp"

namespace lodestone::engine {

ExprId ExprLoads::of(ValueId id, const IntList& from, const Shape& shape) {
  const DType dtype = program_.values()[id].aval.dtype;
  if (const auto element = number_of(program_, id)) return writer_.number(*element, dtype);
  const auto [at, is_new] = loads_.try_emplace({id, from.text() + shape.text()}, ExprId{});
  if (is_new) {
    at->second = writer_.load(dtype, from, shape);
    operands_.push_back(id);
  }
  return at->second;
}

}  // namespace lodestone::engine
