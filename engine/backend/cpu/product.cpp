// SPDX-License-Identifier: Apache-2.0
// dot_general by BLAS: the axes of each operand are grouped into batch, free and summed; a group that is one
// stride is used where it lies, anything else is packed first.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/core/blas_setup.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <optional>

namespace lodestone::engine::cpu_backend {
namespace {

/// Extent and stride of axes that run as one; none when their strides do not allow it.
struct Group {
  Dim extent = 1;
  Dim stride = 1;
};

std::optional<Group> group_of(const Shape& shape, const Strides& strides, const Axes& axes) {
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

/// A stack of matrices with rows `rows` and columns `columns` (either may be the contiguous one), which lies
/// in an array or in a copy of it.
template <class T>
struct Operand {
  const T* data;
  Dim batch, rows, columns;
  Dim batch_stride, row_stride, column_stride;
  T* copy = nullptr;  ///< the elements are to be packed into it first, in the order of these axes
  Axes order = {};
};

Dim extent_of(const Shape& shape, const Axes& axes) {
  Dim product = 1;
  for (const Dim axis : axes) product *= shape[static_cast<int>(axis)];
  return product;
}

/// Copies the elements one behind the other.
template <class T>
void pack(T* to, const View& view, const Axes& order) {
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
Operand<T> operand(Layout& layout, const View& view, const Axes& batch, const Axes& rows,
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

/// Both operands of a product, with copies of those that lie otherwise than BLAS reads them.
template <class T>
struct Operands {
  Operand<T> a, b;
};

template <class T>
Operands<T> operands(Layout& layout, const KernelCall& call) {
  const auto& attrs = call.attrs_of<DotAttrs>();
  const Axes free_a = DotAttrs::free_axes(call.in[0].shape().rank(), attrs.contract_a, attrs.batch_a);
  const Axes free_b = DotAttrs::free_axes(call.in[1].shape().rank(), attrs.contract_b, attrs.batch_b);
  return {operand<T>(layout, call.in[0], attrs.batch_a, free_a, attrs.contract_a),
          operand<T>(layout, call.in[1], attrs.batch_b, attrs.contract_b, free_b)};
}

/// Returns true for A B of two matrices as they are stored, too small to be shared among threads: then there
/// is nothing to group.
bool is_small_product(const KernelCall& call) {
  const auto& attrs = call.attrs_of<DotAttrs>();
  const auto is_stored = [](const View& view) {
    return view.shape().rank() == 2 && view.shape()[0] > 1 && view.shape()[1] > 1 &&
           is_contiguous(view.shape(), *view.strides);
  };
  const auto is_only = [](const Axes& axes, Dim axis) { return axes.size() == 1 && axes[0] == axis; };
  return attrs.batch_a.empty() && is_stored(call.in[0]) && is_stored(call.in[1]) &&
         is_only(attrs.contract_a, 1) && is_only(attrs.contract_b, 0) && call.out[0].shape()[0] < 128;
}

template <class T>
void dot_kernel(const KernelCall& call) {
  if (is_small_product(call)) {
    const Dim rows = call.out[0].shape()[0], columns = call.out[0].shape()[1], summed = call.in[0].shape()[1];
    return gemm<T>({rows, columns, summed}, {call.in[0].as<T>(), summed, 1}, {call.in[1].as<T>(), columns, 1},
                   {call.out[0].as<T>(), columns});
  }
  if (call.out[0].count() == 0) return;
  const auto [a, b] = shared_arrays<operands<T>>(call);
  if (a.copy != nullptr) pack(a.copy, call.in[0], a.order);
  if (b.copy != nullptr) pack(b.copy, call.in[1], b.order);
  // Rows are split by the shape alone: BLAS adds in another order for other numbers of rows, and the number
  // of threads must not change a bit. Each piece costs BLAS another look at B, hence few of them.
  const double ns = 0.02 * static_cast<double>(a.rows * b.columns) * static_cast<double>(a.columns);
  const Dim pieces = std::clamp<Dim>(std::min(a.rows / 128, static_cast<Dim>(ns / least_shared_ns)), 1, 4);
  share(a.batch * pieces, ns * static_cast<double>(a.batch), [&, &a = a, &b = b](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) {
      const Dim n = i / pieces, first = i % pieces * a.rows / pieces,
                last = (i % pieces + 1) * a.rows / pieces;
      gemm<T>({last - first, b.columns, a.columns},
              {a.data + n * a.batch_stride + first * a.row_stride, a.row_stride, a.column_stride},
              {b.data + n * b.batch_stride, b.row_stride, b.column_stride},
              {call.out[0].as<T>() + (n * a.rows + first) * b.columns, b.columns});
    }
  });
}

template <class T>
Workspace workspace(const KernelCall& call) {
  return is_small_product(call) ? Workspace() : shared_workspace<operands<T>>(call);
}

template <class T>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.gemm", .run = dot_kernel<T>, .workspace = workspace<T>});
}

}  // namespace

void register_product_kernels(OpTable& table) {
  core::prepare_blas();
  OpInfo& row = table.at("dot_general");
  put<float>(row);
  put<double>(row);
  put<std::complex<float>>(row);
  put<std::complex<double>>(row);
}

}  // namespace lodestone::engine::cpu_backend
