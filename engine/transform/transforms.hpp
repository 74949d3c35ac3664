// SPDX-License-Identifier: Apache-2.0
// Derivatives and batches of functions of tensors. Everything returned is recorded graph: it can be
// transformed again, and runs when its values are used.
//
// The inner product is Re⟨x, y⟩ also for complex tensors, so `vjp` is the adjoint and −grad is the direction
// of steepest descent. What a function captures beside its arguments counts as constant. errors of all:
// InvalidArgument for inputs that have no derivative (integers) and for empty outputs; all errors name the
// caller's line.
#pragma once

#include "engine/record/trace.hpp"

#include <concepts>
#include <memory>

namespace lodestone::engine {

/// A function at a point: its value and derivative, taken apart once.
class Linearized {
 public:
  Linearized(const Function& f, const Tensors& at,
             std::source_location where = std::source_location::current());
  [[nodiscard]] const Tensors& value() const { return trace_->outputs(); }
  /// Returns J v. shapes: those of the inputs → those of the outputs.
  [[nodiscard]] Tensors jvp(const Tensors& tangents,
                            std::source_location where = std::source_location::current()) const;
  /// Returns Jᴴ w. shapes: those of the outputs → those of the inputs.
  [[nodiscard]] Tensors vjp(const Tensors& cotangents,
                            std::source_location where = std::source_location::current()) const;

 private:
  std::shared_ptr<const Trace> trace_;
};
[[nodiscard]] Linearized linearize(const Function& f, const Tensors& at,
                                   std::source_location where = std::source_location::current());

struct ValueAndGradients {
  Tensor value;
  Tensors gradients;
};
/// Returns a real scalar function and its gradients with respect to all arguments. errors: ShapeError when f
/// gives no single real number.
[[nodiscard]] ValueAndGradients value_and_grad(const Function& f, const Tensors& at,
                                               std::source_location where = std::source_location::current());

/// Returns f over axis 0 of every input marked `batched` (default: all), written without it. shapes: outputs
/// get the batch as axis 0.
[[nodiscard]] Function vmap(Function f, std::vector<bool> batched = {},
                            std::source_location where = std::source_location::current());

enum class JacobianMode : std::uint8_t { automatic, forward, reverse };
/// Returns the derivative of a function of one tensor. shapes: [outputs…, inputs…]. All directions go through
/// the graph at once, as one batch; automatic takes the side with fewer of them. A complex input or output is
/// taken as its real and imaginary parts: [outputs…, (2), inputs…, (2)].
[[nodiscard]] Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& at,
                              JacobianMode mode = JacobianMode::automatic,
                              std::source_location where = std::source_location::current());
/// Returns the second derivative of a real scalar function in one direction, without the matrix: H v.
[[nodiscard]] Tensor hessian_product(const std::function<Tensor(const Tensor&)>& f, const Tensor& at,
                                     const Tensor& direction,
                                     std::source_location where = std::source_location::current());

/// Lets functions of plain arguments, `Tensor f(Tensor, …)`, be transformed: `grad(f)(x)`.
template <class F>
concept TensorFunction = std::regular_invocable<F, Tensor> || std::regular_invocable<F, Tensor, Tensor> ||
    std::regular_invocable<F, Tensor, Tensor, Tensor>;

template <TensorFunction F>
[[nodiscard]] Function as_function(F f) {
  return [f](const Tensors& x) -> Tensors {
    if constexpr (std::regular_invocable<F, Tensor>) {
      return {f(x.at(0))};
    } else if constexpr (std::regular_invocable<F, Tensor, Tensor>) {
      return {f(x.at(0), x.at(1))};
    } else {
      return {f(x.at(0), x.at(1), x.at(2))};
    }
  };
}

/// The gradient of a real scalar function of one tensor, as a function.
template <class F>
requires std::regular_invocable<F, Tensor>
[[nodiscard]] auto grad(F f, std::source_location where = std::source_location::current()) {
  return [f, where](const Tensor& x) -> Tensor {
    return value_and_grad(as_function(f), {x}, where).gradients[0];
  };
}

/// Returns f over axis 0 of its argument, as a function.
template <class F>
requires std::regular_invocable<F, Tensor>
[[nodiscard]] auto vmap(F f, std::source_location where = std::source_location::current()) {
  return [f, where](const Tensor& x) -> Tensor { return vmap(as_function(f), {}, where)({x})[0]; };
}

}  // namespace lodestone::engine
