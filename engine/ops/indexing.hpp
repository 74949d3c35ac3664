// SPDX-License-Identifier: Apache-2.0
// Elements by their number, and numbers of elements. Indices are i32 or i64, from 0; one outside the axis is
// an InvalidArgument when the op runs.
#pragma once

#include "engine/record/tensor.hpp"

#include <optional>
#include <vector>

namespace lodestone::engine {

/// Slices of x along an axis, in the order of `indices`. shapes: x [before…, n, behind…], indices [i…] →
/// [before…, i…, behind…].
[[nodiscard]] Tensor take(const Located& x, const Located& indices, int axis = 0);
/// Along an axis, element indices[…] of each line of x. shapes: x and indices equal but for the axis → that
/// of indices.
[[nodiscard]] Tensor take_along_axis(const Located& x, const Located& indices, int axis);
/// Returns x, with slice i… of `updates` added at indices[i…] of the axis; equal indices add up, in their
/// order. shapes: those of `take` backwards.
[[nodiscard]] Tensor scatter_add(const Located& x, const Located& indices, const Located& updates,
                                 int axis = 0);

/// A position along an axis that is known when an op runs: a scalar, i32 or i64.
struct AxisPosition {
  int axis;
  Tensor position;
};
/// Returns the part of x that starts at these positions, and at 0 along other axes. errors when it runs:
/// InvalidArgument where a position is < 0, or the part would reach beyond x.
[[nodiscard]] Tensor slice_at(const Located& x, const std::vector<AxisPosition>& position,
                              const Shape& extents);
/// Returns x with a part in place of what is there from these positions on. A compiled function that assigns
/// it to the cell of x writes the part only. errors: as those of `slice_at`.
[[nodiscard]] Tensor update_at(const Located& x, const Located& part,
                               const std::vector<AxisPosition>& position);

/// Returns the index (i64) of the largest element along an axis, the first of equals, a NaN before all
/// others; no axis: of all, row-major.
[[nodiscard]] Tensor argmax(const Located& x, std::optional<int> axis = {});
[[nodiscard]] Tensor argmin(const Located& x, std::optional<int> axis = {});

/// Returns the numbers 0, 1, … n − 1.
[[nodiscard]] Tensor iota(Dim n, DType dtype = DType::i64, Device device = default_device(),
                          std::source_location where = std::source_location::current());
/// Returns n numbers at equal distances, both ends included. errors: InvalidArgument for n < 2 and for
/// integers.
[[nodiscard]] Tensor linspace(double first, double last, Dim n, DType dtype = DType::f32,
                              Device device = default_device());
/// Returns 1 where the last, new axis equals the index, else 0 (all 0 for an index outside). shapes: [i…] →
/// [i…, n].
[[nodiscard]] Tensor one_hot(const Located& indices, Dim n, DType dtype = DType::f32);

}  // namespace lodestone::engine
