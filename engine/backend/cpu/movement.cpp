// SPDX-License-Identifier: Apache-2.0
// pad, concatenate and parts at positions: fill, then copy rows to where they belong.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/indices.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// Copies strided elements to strided places.
template <class T>
void copy_block(T* to, const Strides& to_strides, const T* from, const Strides& from_strides,
                const Shape& shape, int axis = 0) {
  if (axis == shape.rank()) {
    *to = *from;
  } else if (axis == shape.rank() - 1) {
    const std::int64_t a = to_strides[axis], b = from_strides[axis];
    if (a == 1 && b == 1) {
      std::copy_n(from, shape[axis], to);
    } else {
      for (Dim i = 0; i < shape[axis]; ++i) to[i * a] = from[i * b];
    }
  } else {
    for (Dim i = 0; i < shape[axis]; ++i)
      copy_block(to + i * to_strides[axis], to_strides, from + i * from_strides[axis], from_strides, shape,
                 axis + 1);
  }
}

template <class T>
void pad_elements(const KernelCall& call) {
  const auto& attrs = call.attrs_of<PadAttrs>();
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), scalar::Cast<T>{}(attrs.value));
  Shape count = call.in[0].shape();
  Strides steps = *call.out[0].strides;
  const T* from = call.in[0].as<T>();
  T* to = call.out[0].as<T>();
  for (int axis = 0; axis < count.rank(); ++axis) {
    const Dim step = attrs.inside[axis] + 1, extent = call.out[0].shape()[axis];
    const Dim first =
        attrs.low[axis] < 0 ? (-attrs.low[axis] + step - 1) / step : 0;  // first element that is not cropped
    const Dim last =
        extent > attrs.low[axis] ? (extent - 1 - attrs.low[axis]) / step + 1 : 0;  // one past the last
    count[axis] = std::max<Dim>(std::min(last, count[axis]) - first, 0);
    from += first * (*call.in[0].strides)[axis];
    to += (attrs.low[axis] + first * step) * steps[axis];
    steps[axis] *= step;
  }
  if (count.count() > 0) copy_block(to, steps, from, *call.in[0].strides, count);
}

template <class T>
void concatenate_elements(const KernelCall& call) {
  const int axis = call.attrs_of<AxisAttrs>().axis;
  T* to = call.out[0].as<T>();
  for (const View& part : call.in) {
    const bool is_there = part.as<T>() == to;  // a plan has let it be written in its place
    if (part.count() > 0 && !is_there)
      copy_block(to, *call.out[0].strides, part.as<T>(), *part.strides, part.shape());
    to += part.shape()[axis] * (*call.out[0].strides)[axis];
  }
}

/// Returns the extents of a batch of parts.
Shape items_of(const PartAttrs& attrs) {
  return Shape(std::span(attrs.extents.begin(), static_cast<std::size_t>(attrs.batch)));
}

template <class T>
void slice_at_positions(const KernelCall& call) {
  const auto& attrs = call.attrs_of<PartAttrs>();
  const View &x = call.in[0], &out = call.out[0];
  for (std::int64_t i = 0; i < items_of(attrs).count(); ++i) {
    const IntList item = indices_of(i, items_of(attrs));
    const T* from = x.as<T>() + offset_of(item, *x.strides) + offset_of_part(call, 1, x, item);
    copy_block(out.as<T>() + offset_of(item, *out.strides), *out.strides, from, *x.strides, attrs.extents,
               attrs.batch);
  }
}

template <class T>
void update_at_positions(const KernelCall& call) {
  const auto& attrs = call.attrs_of<PartAttrs>();
  const View &x = call.in[0], &part = call.in[1], &out = call.out[0];
  if (out.data == part.data) return;  // all of x is replaced
  for (std::int64_t i = 0; i < items_of(attrs).count(); ++i) {
    const IntList item = indices_of(i, items_of(attrs));
    T* const to = out.as<T>() + offset_of(item, *out.strides);
    const auto put = [&](const View& from, std::int64_t offset) {
      copy_block(to + offset, *out.strides, from.as<T>() + offset_of(item, *from.strides), *from.strides,
                 from.shape(), attrs.batch);
    };
    const std::int64_t offset = offset_of_part(call, 2, out, item);  // may lie where the result comes
    if (out.data != x.data) put(x, 0);
    put(part, offset);
  }
}

/// Makes a row-major copy of elements with gaps; the new shape is a view of the copy.
void reshape_copy(const KernelCall& call) {
  static const OpInfo& copy = op_named("copy");
  const View out{call.out[0].data, call.in[0].aval, call.in[0].strides};
  copy.kernel(call.in[0].aval->device, call.in[0].aval->dtype)
      .run({copy, nullptr, call.in, std::span(&out, 1)});
}

}  // namespace

void register_movement_kernels(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_stored_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      table.at("pad").with_kernel(Backend::processor, dtype, {"cpu.rows", pad_elements<T>});
      table.at("concatenate").with_kernel(Backend::processor, dtype, {"cpu.rows", concatenate_elements<T>});
      table.at("slice_at").with_kernel(Backend::processor, dtype, {"cpu.rows", slice_at_positions<T>});
      table.at("update_at")
          .with_kernel(Backend::processor, dtype,
                       {.name = "cpu.rows", .run = update_at_positions<T>, .in_place = true});
      table.at("reshape").with_kernel(Backend::processor, dtype, {"cpu.loop", reshape_copy});
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
