// SPDX-License-Identifier: Apache-2.0
// Small on purpose: reference kernels alone find elements this way.
// How reference kernels find elements: the obvious way.
#pragma once

#include "engine/backend/indices.hpp"
#include "engine/graph/op_info.hpp"

namespace lodestone::engine::reference {

using engine::indices_of;
using engine::offset_of;

template <class T>
[[nodiscard]] T& element(const View& view, const IntList& indices) {
  return view.as<T>()[offset_of(indices, *view.strides)];
}

}  // namespace lodestone::engine::reference
