// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch/function_run.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"

namespace lodestone::engine {

Tensor function_value(const OpInfo& op, std::span<const Tensor> inputs, const AttrsPtr& attrs,
                      const Aval& expected, const std::source_location& where) {
  const OwnGraph own;
  const Tensor value = op.run({op, inputs, Tensor(), attrs, where}).eval();
  if (!(value.aval() == expected))
    throw core::ShapeError(op.name + "#wrong_value", "expected a value of {}, got {} {}", expected.text(),
                           value.aval().text(), at_line(where));
  return value;
}

}  // namespace lodestone::engine
