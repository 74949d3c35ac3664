// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/variables.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {

Function function_of(Variables variables, std::function<Tensors()> f) {
  return [variables = std::move(variables), f = std::move(f)](const Tensors& values) -> Tensors {
    HeldValues held(variables, values);
    Tensors outputs = f();
    held.keep();
    return outputs;
  };
}

ValueGradientsAndMore value_and_grad_with_more(const std::function<Tensors()>& f, const Variables& variables,
                                               std::source_location where) {
  const Linearized linearized(function_of(variables, f), values_of(variables), where);
  const Tensors& outputs = linearized.value();
  if (outputs.empty() || outputs[0].count() != 1 || !core::is_real_float(outputs[0].dtype())) {
    throw core::ShapeError("grad#not_one_real_number",
                           "expected a function whose first output is one real number, got {} {}",
                           outputs.empty() ? "no output" : outputs[0].aval().text(), at_line(where));
  }
  Tensors cotangents(outputs.size());
  cotangents[0] = ones_like(outputs[0]);
  return {outputs[0], linearized.vjp(cotangents, where), {outputs.begin() + 1, outputs.end()}};
}

ValueAndGradients value_and_grad(const std::function<Tensor()>& f, const Variables& variables,
                                 std::source_location where) {
  ValueGradientsAndMore all = value_and_grad_with_more([&f]() -> Tensors { return {f()}; }, variables, where);
  return {std::move(all.value), std::move(all.gradients)};
}

}  // namespace lodestone::engine
