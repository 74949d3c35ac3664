// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
// Accumulation along an axis: element k of the result is of elements 0 … k, or, in reverse, of k … n − 1.
// Shapes stay.
#pragma once

#include "engine/ops/direction.hpp"
#include "engine/record/tensor.hpp"

namespace lodestone::engine {

[[nodiscard]] Tensor cumulative_sum(const Located& x, int axis, Direction direction = Direction::forward);
[[nodiscard]] Tensor cumulative_product(const Located& x, int axis, Direction direction = Direction::forward);
[[nodiscard]] Tensor cumulative_max(const Located& x, int axis, Direction direction = Direction::forward);
[[nodiscard]] Tensor cumulative_min(const Located& x, int axis, Direction direction = Direction::forward);
/// Returns ln Σ e^x, without overflow.
[[nodiscard]] Tensor cumulative_logsumexp(const Located& x, int axis,
                                          Direction direction = Direction::forward);
/// Returns y_k = a_k y_{k−1} + b_k, y before the first element 0: first-order recurrences, and what the
/// derivatives of the others are made of.
[[nodiscard]] Tensor linear_recurrence(const Located& a, const Located& b, int axis,
                                       Direction direction = Direction::forward);

}  // namespace lodestone::engine
