// SPDX-License-Identifier: Apache-2.0
// Functions that others can say: no rows of their own (softmax and log_softmax are composites with a kernel).
// errors: as in ops.hpp.
#pragma once

#include "engine/ops/ops.hpp"

namespace lodestone::engine {

// Elementwise.
[[nodiscard]] Tensor clip(const Located& x, const Operand& low,
                          const Operand& high);   ///< the nearest number from low to high
[[nodiscard]] Tensor relu(const Located& x);      ///< max(x, 0)
[[nodiscard]] Tensor softplus(const Located& x);  ///< ln (1 + e^x), without overflow

// Reductions; axes as in `sum`.
[[nodiscard]] Tensor logsumexp(const Located& x, std::optional<Axes> axes = {},
                               Keep keep = Keep::no);  ///< ln Σ e^x, without overflow
/// Σ |x - mean|^2 / (n - correction).
[[nodiscard]] Tensor variance(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no,
                              double correction = 0.0);
[[nodiscard]] Tensor standard_deviation(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no,
                                        double correction = 0.0);
/// (Σ |x|^2)^(1/2); its slope at 0 is taken as 0.
[[nodiscard]] Tensor squared_modulus(const Located& x);  ///< |x|², real also for complex x
[[nodiscard]] Tensor norm(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);

// Along one axis.
[[nodiscard]] Tensor softmax(const Located& x, int axis = -1);      ///< e^x / Σ e^x, without overflow
[[nodiscard]] Tensor log_softmax(const Located& x, int axis = -1);  ///< x - ln Σ e^x, without overflow

// Movement.
/// Tensors of one shape along a new axis.
[[nodiscard]] Tensor stack(std::span<const Tensor> parts, int axis = 0,
                           std::source_location where = std::source_location::current());
/// Parts of these extents along an axis. errors: ShapeError when they do not add up to its extent.
[[nodiscard]] Tensors split(const Located& x, const IntList& extents, int axis = 0);
[[nodiscard]] Tensor tile(const Located& x,
                          const IntList& times);  ///< x so many times along each axis, one after another
[[nodiscard]] Tensor repeat(const Located& x, Dim times, int axis);  ///< each element so many times in a row
[[nodiscard]] Tensor diagonal(const Located& x, Dim offset = 0);  ///< of the last two axes; offset > 0: above
[[nodiscard]] Tensor lower_triangle(
    const Located& x, Dim offset = 0);  ///< of the last two axes up to the diagonal `offset`, zeros above
[[nodiscard]] Tensor upper_triangle(const Located& x,
                                    Dim offset = 0);  ///< from the diagonal `offset` on, zeros below

// Matrices.
[[nodiscard]] Tensor trace(const Located& x);                    ///< sum of the diagonal of the last two axes
[[nodiscard]] Tensor outer(const Located& a, const Located& b);  ///< a_i b_j of two vectors
[[nodiscard]] Tensor eye(Dim n, DType dtype = DType::f32, Device device = default_device());
[[nodiscard]] Tensor linspace(double first, double last, Dim n, DType dtype = DType::f32,
                              Device device = default_device());  ///< both ends included

}  // namespace lodestone::engine
