// SPDX-License-Identifier: Apache-2.0
// What rows are made of: shape rules and derivatives shared by families.
#pragma once

#include "engine/record/record.hpp"

namespace lodestone::engine {

/// The dtypes of indices and positions.
inline constexpr DTypes index_dtypes{DType::i32, DType::i64};

/// Partial derivative of an elementwise op with respect to one input.
using Partial = Tensor (*)(const RuleArgs&);
/// Returns the derivative dy = Σ pᵢ dxᵢ; the adjoint of it is x̄ᵢ = conj(pᵢ) ȳ.
[[nodiscard]] Derivative by_partials(std::string formula, std::vector<Partial> partials);
/// The result of an op for a tangent or cotangent that belongs to input `which`.
using Term = std::function<Tensor(const RuleArgs&, const Tensor& tangent, std::size_t which)>;
/// Returns an op that is linear in all its inputs together: its tangent is itself, its adjoint is given.
/// `alone`: the tangent of the output for that of one input, for ops that are sums; without it absent
/// tangents are zeros.
[[nodiscard]] Derivative linear(std::string formula, Term adjoint, Term alone = {});
/// Returns an op that is linear in each input by itself, e.g. a product.
[[nodiscard]] Derivative multilinear(std::string formula, Term adjoint);
[[nodiscard]] Derivative no_derivative(std::string why);

/// Zeros where a tangent is no tensor.
[[nodiscard]] Tensor tangent_or_zeros(const Tensor& tangent, const Tensor& primal);
[[nodiscard]] Tensors tangents_or_zeros(std::span<const Tensor> tangents, std::span<const Tensor> primals);
/// The view of an op that gives its input as it is.
[[nodiscard]] std::optional<Look> same_look(const Aval& in, const Look& look, const Attrs* attrs,
                                            const Aval& out);

/// Returns the abstract value of input 0. errors: ShapeError when the inputs are not all of one shape, dtype
/// and device.
[[nodiscard]] Aval infer_alike(const InferArgs& args);

/// Checks attributes against input 0: it must have these axes, with one entry of a list per axis. errors:
/// ShapeError.
void check_axes(const InferArgs& args, const Axes& axes);
void check_axis(const InferArgs& args, Dim axis);
void check_rank(const InferArgs& args, int rank);

/// Real operations of `n` multiplications with an addition each: 2 n, of complex numbers 8 n.
[[nodiscard]] double multiply_adds(double n, DType dtype);

/// Returns the shape both shapes broadcast to. errors: ShapeError with the op's name and the line.
[[nodiscard]] Shape broadcast_shapes(std::string_view op, const Aval& a, const Aval& b,
                                     const std::source_location& where);
/// Returns the axis counted from the first. errors: ShapeError.
[[nodiscard]] int counted_axis(std::string_view op, Dim axis, int rank, const std::source_location& where);
/// Distinct, sorted, counted from the first. errors: ShapeError.
[[nodiscard]] Axes counted_axes(std::string_view op, const Axes& axes, int rank,
                                const std::source_location& where);
/// Returns x with one of its axes in another place; the others keep their order.
[[nodiscard]] Tensor move_axis(const Tensor& x, int from, int to);
/// Each plus one: for an input with a batch axis in front.
[[nodiscard]] Axes shifted(const Axes& axes, Dim by = 1);

}  // namespace lodestone::engine
