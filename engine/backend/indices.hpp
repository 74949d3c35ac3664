// SPDX-License-Identifier: Apache-2.0
// Small on purpose: both backends check indices in the same words, and find parts at the same positions.
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine {

/// Returns an index that is a value of a tensor. errors: InvalidArgument, with op and line, outside 0 …
/// extent − 1.
[[nodiscard]] inline std::int64_t checked_index(std::int64_t index, Dim extent, const KernelCall& call) {
  if (index < 0 || index >= extent)
    throw core::InvalidArgument(call.op.name + "#index_out_of_range",
                                "expected indices >= 0 and < {}, got {} {}", extent, index,
                                at_line(call.where));
  return index;
}

/// Returns the indices of the element that stands at `flat` in row-major order.
[[nodiscard]] inline IntList indices_of(std::int64_t flat, const Shape& shape) {
  IntList indices = IntList::filled(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    indices[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return indices;
}

/// Returns how far an element is from the first; axes for which there is no index count as 0.
[[nodiscard]] inline std::int64_t offset_of(const IntList& indices, const Strides& strides) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < std::min(indices.size(), strides.size()); ++axis)
    offset += indices[axis] * strides[axis];
  return offset;
}

/// Returns how far the first element of a part is from that of its item in `whole`. Positions, behind the
/// first n operands, are moved to the nearest for which the whole has room. `at`: starts with the item.
[[nodiscard]] inline std::int64_t offset_of_part(const KernelCall& call, std::size_t n, const View& whole,
                                                 const IntList& at) {
  const auto& [batch, axes, extents] = call.attrs_of<PartAttrs>();
  std::int64_t offset = 0;
  for (int i = 0; i < axes.size(); ++i) {
    const View& view = call.in[n + static_cast<std::size_t>(i)];
    const std::int64_t from = offset_of(at, *view.strides), axis = axes[i];
    const std::int64_t position =
        view.aval->dtype == DType::i32 ? view.as<std::int32_t>()[from] : view.as<std::int64_t>()[from];
    const Dim last = whole.shape()[static_cast<int>(axis)] - extents[static_cast<int>(axis)];
    offset += std::clamp<std::int64_t>(position, 0, last) * (*whole.strides)[static_cast<int>(axis)];
  }
  return offset;
}

}  // namespace lodestone::engine
