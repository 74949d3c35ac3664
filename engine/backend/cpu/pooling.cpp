// SPDX-License-Identifier: Apache-2.0
// Pooling with the channels innermost: window after window is compared with the best so far, all channels at once.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace lodestone::engine::cpu_backend {
namespace {

/// Spatial axes padded to three.
struct Axis {
  Dim extent = 1, positions = 1, window = 1, stride = 1, low = 0;
};

std::array<Axis, 3> axes_of(const PoolAttrs& attrs, const Shape& x, const Shape& y) {
  std::array<Axis, 3> axes;
  const int n = x.rank() - 2;
  for (int i = 0; i < n; ++i)
    axes[static_cast<std::size_t>(3 - n + i)] = {x[1 + i], y[1 + i], attrs.window[i], attrs.stride[i], attrs.low[i]};
  return axes;
}

/// position(first channel of the output position, offsets in x of the channels' largest elements) for every output position.
template <class T, class Position>
void for_each_winner(const PoolAttrs& attrs, const Shape& shape_x, const Shape& shape_y, const T* x, Position&& position) {
  const auto axes = axes_of(attrs, shape_x, shape_y);
  const auto& [a, b, c] = axes;
  const Dim channels = shape_x.back();
  std::vector<Dim> best(static_cast<std::size_t>(channels));
  Dim out = 0;
  for (Dim item = 0; item < shape_x[0]; ++item) {
    for (Dim p = 0; p < a.positions; ++p) {
      for (Dim q = 0; q < b.positions; ++q) {
        for (Dim r = 0; r < c.positions; ++r, out += channels) {
          bool started = false;
          const auto range = [](const Axis& axis, Dim at) {
            const Dim first = at * axis.stride - axis.low;
            return std::pair{std::max<Dim>(first, 0), std::min(first + axis.window, axis.extent)};
          };
          const auto [a0, a1] = range(a, p);
          const auto [b0, b1] = range(b, q);
          const auto [c0, c1] = range(c, r);
          for (Dim i = a0; i < a1; ++i) {
            for (Dim j = b0; j < b1; ++j) {
              for (Dim k = c0; k < c1; ++k) {
                const Dim from = (((item * a.extent + i) * b.extent + j) * c.extent + k) * channels;
                for (Dim channel = 0; channel < channels; ++channel) {
                  Dim& winner = best[static_cast<std::size_t>(channel)];
                  if (!started || x[from + channel] > x[winner]) winner = from + channel;
                }
                started = true;
              }
            }
          }
          position(out, best);
        }
      }
    }
  }
}

template <class T>
void max_pool_kernel(const KernelCall& call) {
  const T* x = call.in[0].as<T>();
  for_each_winner(call.attrs_of<PoolAttrs>(), call.in[0].shape(), call.out.shape(), x, [&](Dim out, const std::vector<Dim>& best) {
    for (std::size_t c = 0; c < best.size(); ++c) call.out.as<T>()[static_cast<std::size_t>(out) + c] = x[best[c]];
  });
}

template <class T>
void pool_pick_kernel(const KernelCall& call) {
  const T* t = call.in[1].as<T>();
  for_each_winner(call.attrs_of<PoolAttrs>(), call.in[0].shape(), call.out.shape(), call.in[0].as<T>(),
                  [&](Dim out, const std::vector<Dim>& best) {
                    for (std::size_t c = 0; c < best.size(); ++c) call.out.as<T>()[static_cast<std::size_t>(out) + c] = t[best[c]];
                  });
}

template <class T>
void pool_place_kernel(const KernelCall& call) {
  const T* t = call.in[1].as<T>();
  std::fill_n(call.out.as<T>(), call.out.count(), T(0));
  for_each_winner(call.attrs_of<PoolAttrs>(), call.in[0].shape(), call.in[1].shape(), call.in[0].as<T>(),
                  [&](Dim out, const std::vector<Dim>& best) {
                    for (std::size_t c = 0; c < best.size(); ++c) call.out.as<T>()[best[c]] += t[static_cast<std::size_t>(out) + c];
                  });
}

template <class... T>
void register_for(OpTable& table) {
  const auto put = [&](std::string_view name, DType dtype, void (*run)(const KernelCall&)) {
    table.at(name).with_kernel(Backend::processor, dtype, {"cpu.windows", run, true});
  };
  (put("max_pool", core::dtype_of<T>, max_pool_kernel<T>), ...);
  (put("pool_pick", core::dtype_of<T>, pool_pick_kernel<T>), ...);
  (put("pool_place", core::dtype_of<T>, pool_place_kernel<T>), ...);
}

}  // namespace

void register_pooling_kernels(OpTable& table) { register_for<float, double>(table); }

}  // namespace lodestone::engine::cpu_backend
