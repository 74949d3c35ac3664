// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling by loops over output position, window and channels.
#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine {
namespace {

using reference::element;
using reference::indices_of;

Shape spatial_of(const Shape& shape) {
  return IntList(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 2)));
}

/// Calls f(indices into x, into w, into y) for every term of the trilinear form.
template <class F>
void for_each_term(const ConvAttrs& attrs, const Shape& x, const Shape& w, const Shape& y, F&& f) {
  const int n = x.rank() - 2;
  const Shape window = spatial_of(w);
  const Dim of_group = w[n], out_of_group = w[n + 1] / attrs.groups;
  for (std::int64_t p = 0; p < y.count(); ++p) {
    const IntList at_y = indices_of(p, y);
    const Dim group = at_y[n + 1] / out_of_group;
    for (std::int64_t q = 0; q < window.count(); ++q) {
      const IntList in_window = indices_of(q, window);
      IntList at_x = at_y, at_w = in_window;
      bool inside = true;
      for (int i = 0; i < n; ++i) {
        at_x[1 + i] = at_y[1 + i] * attrs.stride[i] + in_window[i] * attrs.dilation[i] - attrs.low[i];
        inside = inside && at_x[1 + i] >= 0 && at_x[1 + i] < x[1 + i];
      }
      if (!inside) continue;
      at_w.push_back(0);
      at_w.push_back(at_y[n + 1]);
      for (Dim c = 0; c < of_group; ++c) {
        at_x[n + 1] = group * of_group + c;
        at_w[n] = c;
        f(at_x, at_w, at_y);
      }
    }
  }
}

/// out += a b over all terms; the output is x, w or y.
template <class T>
void conv_loop(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  for_each_term(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.in[1].shape(), call.out[0].shape(),
                [&](const IntList& x, const IntList& w, const IntList& y) {
                  element<T>(call.out[0], y) +=
                      scalar::Multiply{}(element<T>(call.in[0], x), element<T>(call.in[1], w));
                });
}

template <class T>
void conv_transpose_loop(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  for_each_term(call.attrs_of<ConvAttrs>(), call.out[0].shape(), call.in[1].shape(), call.in[0].shape(),
                [&](const IntList& x, const IntList& w, const IntList& y) {
                  element<T>(call.out[0], x) +=
                      scalar::Multiply{}(element<T>(call.in[0], y), element<T>(call.in[1], w));
                });
}

template <class T>
void conv_weights_loop(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  for_each_term(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.out[0].shape(), call.in[1].shape(),
                [&](const IntList& x, const IntList& w, const IntList& y) {
                  element<T>(call.out[0], w) +=
                      scalar::Multiply{}(element<T>(call.in[0], x), element<T>(call.in[1], y));
                });
}

/// Returns the indices of the first largest element of the window at these output indices.
template <class T>
IntList winner(const PoolAttrs& attrs, const View& x, const IntList& at) {
  const int n = x.shape().rank() - 2;
  const Shape window = attrs.window;
  IntList best;
  for (std::int64_t q = 0; q < window.count(); ++q) {
    const IntList in_window = indices_of(q, window);
    IntList place = at;
    bool inside = true;
    for (int i = 0; i < n; ++i) {
      place[1 + i] = at[1 + i] * attrs.stride[i] + in_window[i] - attrs.low[i];
      inside = inside && place[1 + i] >= 0 && place[1 + i] < x.shape()[1 + i];
    }
    if (!inside) continue;
    const auto is_nan = [&](const IntList& where) { return element<T>(x, where) != element<T>(x, where); };
    if (best.empty() || (!is_nan(best) && (element<T>(x, place) > element<T>(x, best) || is_nan(place))))
      best = place;
  }
  return best;
}

template <class T>
void max_pool_loop(const KernelCall& call) {
  for (std::int64_t p = 0; p < call.out[0].count(); ++p) {
    const IntList best =
        winner<T>(call.attrs_of<PoolAttrs>(), call.in[0], indices_of(p, call.out[0].shape()));
    call.out[0].as<T>()[p] = element<T>(call.in[0], best);
  }
}

template <class T>
void pool_pick_loop(const KernelCall& call) {
  for (std::int64_t p = 0; p < call.out[0].count(); ++p) {
    const IntList best =
        winner<T>(call.attrs_of<PoolAttrs>(), call.in[0], indices_of(p, call.out[0].shape()));
    call.out[0].as<T>()[p] = element<T>(call.in[1], best);
  }
}

template <class T>
void pool_place_loop(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  for (std::int64_t p = 0; p < call.in[1].count(); ++p) {
    const IntList at = indices_of(p, call.in[1].shape());
    element<T>(call.out[0], winner<T>(call.attrs_of<PoolAttrs>(), call.in[0], at)) +=
        element<T>(call.in[1], at);
  }
}

template <class... T>
void register_conv(OpTable& table) {
  const auto put = [&](std::string_view name, DType dtype, void (*run)(const KernelCall&)) {
    table.at(name).with_kernel(Backend::reference, dtype, {"reference", run});
  };
  (put("conv", core::dtype_of<T>, conv_loop<T>), ...);
  (put("conv_transpose", core::dtype_of<T>, conv_transpose_loop<T>), ...);
  (put("conv_weights", core::dtype_of<T>, conv_weights_loop<T>), ...);
}

template <class... T>
void register_pool(OpTable& table) {
  const auto put = [&](std::string_view name, DType dtype, void (*run)(const KernelCall&)) {
    table.at(name).with_kernel(Backend::reference, dtype, {"reference", run});
  };
  (put("max_pool", core::dtype_of<T>, max_pool_loop<T>), ...);
  (put("pool_pick", core::dtype_of<T>, pool_pick_loop<T>), ...);
  (put("pool_place", core::dtype_of<T>, pool_place_loop<T>), ...);
}

}  // namespace

void register_reference_windows(OpTable& table) {
  register_conv<float, double, std::complex<float>, std::complex<double>>(table);
  register_pool<float, double>(table);
}

}  // namespace lodestone::engine
