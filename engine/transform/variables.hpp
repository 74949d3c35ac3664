// SPDX-License-Identifier: Apache-2.0
// Transforms of functions that read variables: with respect to cells instead of arguments.
#pragma once

#include "engine/record/variable.hpp"
#include "engine/transform/transforms.hpp"

namespace lodestone::engine {

/// Returns f as a function of what the variables hold, for any transform: `linearize(function_of(weights, f),
/// values_of(weights))`. While f runs, each reads as its argument. Cells that f assigns (running statistics,
/// random keys) keep their new tensor, all others get theirs back; when f throws, none has changed.
[[nodiscard]] Function function_of(Variables variables, std::function<Tensors()> f);

struct ValueGradientsAndMore {
  Tensor value;
  Tensors gradients;
  Tensors more;  ///< further results of f, without gradients
};
/// Returns the value of a real scalar function and its gradients by variables, in their order. A gradient is
/// zero where the function does not depend on the variable. errors: ShapeError when f gives no single real
/// number; InvalidArgument for variables that have no derivative (integers).
[[nodiscard]] ValueAndGradients value_and_grad(const std::function<Tensor()>& f, const Variables& variables,
                                               std::source_location where = std::source_location::current());
/// Returns value and gradients of a function with further results behind its value, for example predictions
/// for metrics.
[[nodiscard]] ValueGradientsAndMore value_and_grad_with_more(
    const std::function<Tensors()>& f, const Variables& variables,
    std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
