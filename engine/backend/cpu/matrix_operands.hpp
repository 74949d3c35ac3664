// SPDX-License-Identifier: Apache-2.0
// The operands of dot_general as stacks of matrices: the axes of each are grouped into batch, free and
// summed. A group that is one stride is used where it lies, anything else is packed first.
#pragma once

#include "engine/graph/kernel.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/ops/attributes.hpp"

#include <optional>

namespace lodestone::engine::cpu_backend {

/// Extent and stride of axes that run as one; none when their strides do not allow it.
struct Group {
  Dim extent = 1;
  Dim stride = 1;
};

[[nodiscard]] inline std::optional<Group> group_of(const Shape& shape, const Strides& strides,
                                                   const Axes& axes) {
  Group group;
  bool started = false;
  for (int n = axes.size() - 1; n >= 0; --n) {
    const auto axis = static_cast<int>(axes[n]);
    if (shape[axis] == 1) continue;
    if (started && strides[axis] != group.stride * group.extent) return std::nullopt;
    if (!started) group.stride = strides[axis];
    group.extent *= shape[axis];
    started = true;
  }
  return group;
}

/// A stack of matrices with rows `rows` and columns `columns` (either may be the contiguous one). It lies
/// in an array or in a copy of it.
template <class T>
struct Operand {
  const T* data;
  Dim batch, rows, columns;
  Dim batch_stride, row_stride, column_stride;
  T* copy = nullptr;  ///< the elements are to be packed into it first, in the order of these axes
  Axes order = {};
};

[[nodiscard]] inline Dim extent_of(const Shape& shape, const Axes& axes) {
  Dim product = 1;
  for (const Dim axis : axes) product *= shape[static_cast<int>(axis)];
  return product;
}

/// Copies the elements one behind the other.
template <class T>
void pack_axes(T* to, const View& view, const Axes& order) {
  const auto walk = [&](auto&& self, int depth, const T* from) -> void {
    if (depth == order.size()) {
      *to++ = *from;
      return;
    }
    const auto axis = static_cast<int>(order[depth]);
    for (Dim i = 0; i < view.shape()[axis]; ++i) self(self, depth + 1, from + i * (*view.strides)[axis]);
  };
  if (view.count() > 0) walk(walk, 0, view.as<T>());
}

template <class T>
[[nodiscard]] Operand<T> operand(Layout& layout, const View& view, const Axes& batch, const Axes& rows,
                                 const Axes& columns) {
  const Shape& shape = view.shape();
  const auto b = group_of(shape, *view.strides, batch), r = group_of(shape, *view.strides, rows),
             c = group_of(shape, *view.strides, columns);
  const auto usable = [](const Group& across, const Group& along) {
    return (along.extent == 1 || along.stride == 1) && (across.extent == 1 || across.stride >= along.extent);
  };
  if (b && r && c && (usable(*r, *c) || usable(*c, *r)))
    return {view.as<T>(), b->extent, r->extent, c->extent, b->stride, r->stride, c->stride};
  Axes order = batch;
  for (const Dim axis : rows) order.push_back(axis);
  for (const Dim axis : columns) order.push_back(axis);
  const Dim n_rows = extent_of(shape, rows), n_columns = extent_of(shape, columns);
  T* const copy = layout.array<T>(view.count());
  return {copy, extent_of(shape, batch), n_rows, n_columns, n_rows * n_columns, n_columns, 1, copy, order};
}

/// Both operands of a product, with copies of those that lie otherwise.
template <class A, class B = A>
struct Operands {
  Operand<A> a;
  Operand<B> b;

  void pack(const KernelCall& call) const {
    if (a.copy != nullptr) pack_axes(a.copy, call.in[0], a.order);
    if (b.copy != nullptr) pack_axes(b.copy, call.in[1], b.order);
  }
};

template <class A, class B = A>
[[nodiscard]] Operands<A, B> operands(Layout& layout, const KernelCall& call) {
  const auto& attrs = call.attrs_of<DotAttrs>();
  const Axes free_a = DotAttrs::free_axes(call.in[0].shape().rank(), attrs.contract_a, attrs.batch_a);
  const Axes free_b = DotAttrs::free_axes(call.in[1].shape().rank(), attrs.contract_b, attrs.batch_b);
  return {operand<A>(layout, call.in[0], attrs.batch_a, free_a, attrs.contract_a),
          operand<B>(layout, call.in[1], attrs.batch_b, attrs.contract_b, free_b)};
}

}  // namespace lodestone::engine::cpu_backend
