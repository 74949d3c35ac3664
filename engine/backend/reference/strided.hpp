// SPDX-License-Identifier: Apache-2.0
// How reference kernels find elements: the obvious way.
#pragma once

#include "engine/graph/op_info.hpp"

namespace lodestone::engine::reference {

/// Returns the indices of the element that stands at `flat` in row-major order.
[[nodiscard]] inline IntList indices_of(std::int64_t flat, const Shape& shape) {
  IntList indices = IntList::filled(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    indices[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return indices;
}

[[nodiscard]] inline std::int64_t offset_of(const IntList& indices, const Strides& strides) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < indices.size(); ++axis) offset += indices[axis] * strides[axis];
  return offset;
}

template <class T>
[[nodiscard]] T& element(const View& view, const IntList& indices) {
  return view.as<T>()[offset_of(indices, *view.strides)];
}

}  // namespace lodestone::engine::reference
