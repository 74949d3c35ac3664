// SPDX-License-Identifier: Apache-2.0
// Pooling with the channels innermost: window after window is compared with the best so far, all channels at
// once.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/triple.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <array>

namespace lodestone::engine::cpu_backend {
namespace {

/// A spatial axis.
struct Axis {
  Dim extent, positions, window, stride, low;
  /// Elements of the window at a position that exist, first and one past the last.
  [[nodiscard]] std::pair<Dim, Dim> range(Dim position) const {
    const Dim first = position * stride - low;
    return {std::max<Dim>(first, 0), std::min(first + window, extent)};
  }
};

std::array<Axis, 3> axes_of(const PoolAttrs& attrs, const Shape& x, const Shape& y) {
  const int n = x.rank() - 2;
  const Triple extent = triple(x, 1, n, 1), positions = triple(y, 1, n, 1),
               window = triple(attrs.window, 0, n, 1), stride = triple(attrs.stride, 0, n, 1),
               low = triple(attrs.low, 0, n, 0);
  std::array<Axis, 3> axes;
  for (std::size_t i = 0; i < 3; ++i) axes[i] = {extent[i], positions[i], window[i], stride[i], low[i]};
  return axes;
}

/// One output position: where each element of its window starts in x, and for each channel the largest so far
/// and its number. That is as wide as T, so that they vectorize alike.
template <class T>
struct Window {
  using Number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const T* x;
  Dim channels, n_elements;
  Dim* elements;
  T* best;
  Number* winner;
};

/// The aim of a search in windows: the largest element, or also which it is.
enum class Find { largest, winner };

/// A window of x, in scratch.
template <class T, Find find>
Window<T> window_of(Layout& layout, const KernelCall& call) {
  const View& x = call.in[0];
  const Dim channels = x.shape().back(), most = Shape(call.attrs_of<PoolAttrs>().window).count(),
            n_kept = find == Find::winner ? channels : 0;
  return {x.as<T>(),
          channels,
          0,
          layout.array<Dim>(most),
          layout.array<T>(n_kept),
          layout.array<typename Window<T>::Number>(n_kept)};
}

/// The largest of each channel, the first of equals; NaN if there is one.
template <class T>
[[gnu::always_inline]] inline void largest(Window<T>& window, const T*, T* out) {
  std::copy_n(window.x + window.elements[0], window.channels, out);
  for (Dim k = 0; k < window.n_elements; ++k) {
    const T* const x = window.x + window.elements[k];
    for (Dim c = 0; c < window.channels; ++c) out[c] = x[c] > out[c] || x[c] != x[c] ? x[c] : out[c];
  }
}

template <class T>
[[gnu::always_inline]] inline void find_winners(Window<T>& window) {
  using Number = typename Window<T>::Number;
  T* const best = window.best;
  Number* const winner = window.winner;
  std::copy_n(window.x + window.elements[0], window.channels, best);
  std::fill_n(winner, window.channels, Number{0});
  for (Dim k = 1; k < window.n_elements; ++k) {
    const T* const x = window.x + window.elements[k];
    const auto number = static_cast<Number>(k);
    for (Dim c = 0; c < window.channels; ++c) {
      const bool wins = (x[c] > best[c] || x[c] != x[c]) && best[c] == best[c];  // NaN wins, and stays
      winner[c] = wins ? number : winner[c];
      best[c] = wins ? x[c] : best[c];
    }
  }
}

/// Copies the elements of t at the winners; t has the shape of x.
template <class T>
[[gnu::always_inline]] inline void pick(Window<T>& window, const T* t, T* out) {
  find_winners(window);
  const auto* const winner = window.winner;
  for (Dim k = 0; k < window.n_elements; ++k) {
    const T* const from = t + window.elements[k];
    const auto number = static_cast<typename Window<T>::Number>(k);
    for (Dim c = 0; c < window.channels; ++c) out[c] = winner[c] == number ? from[c] : out[c];
  }
}

/// Adds t to `out`, of the shape of x, at the winners.
template <class T>
[[gnu::always_inline]] inline void place(Window<T>& window, const T* t, T* out) {
  find_winners(window);
  const auto* const winner = window.winner;
  for (Dim k = 0; k < window.n_elements; ++k) {
    T* const to = out + window.elements[k];
    const auto number = static_cast<typename Window<T>::Number>(k);
    for (Dim c = 0; c < window.channels; ++c) to[c] += winner[c] == number ? t[c] : T(0);
  }
}

template <class T>
using Step = void (*)(Window<T>&, const T*, T*);

/// Which operands of a step advance with the output position; the others are of the shape of x.
struct Advance {
  Dim t, out;
};

template <class T, Find find>
struct Run {
  const KernelCall& call;
  Step<T> step;
  const Shape& positions;
  const T* t;
  Advance advance;

  void over(Dim first, Dim last) const {
    const auto [a, b, c] = axes_of(call.attrs_of<PoolAttrs>(), call.in[0].shape(), positions);
    const Dim channels = positions.back();
    Window<T> window = own_arrays<window_of<T, find>>(call);
    for (Dim at = first; at < last; ++at) {
      const auto [c0, c1] = c.range(at % c.positions);
      const auto [b0, b1] = b.range(at / c.positions % b.positions);
      const auto [a0, a1] = a.range(at / c.positions / b.positions % a.positions);
      const Dim item = at / c.positions / b.positions / a.positions;
      window.n_elements = 0;
      for (Dim i = a0; i < a1; ++i) {
        for (Dim j = b0; j < b1; ++j) {
          for (Dim k = c0; k < c1; ++k)
            window.elements[window.n_elements++] =
                (((item * a.extent + i) * b.extent + j) * c.extent + k) * channels;
        }
      }
      step(window, t + at * advance.t * channels, call.out[0].as<T>() + at * advance.out * channels);
    }
  }
  /// Windows may overlap: where they are written to, only items are independent.
  void all() const {
    if (positions.count() == 0) return;
    const Dim n = positions.count() / positions.back(), of_item = n / positions[0],
              unit = advance.out == 0 ? of_item : 1;
    share(n / unit, 0.5 * static_cast<double>(call.in[0].count()),
          [&](Dim first, Dim last) { over(first * unit, last * unit); });
  }
};

template <class T>
void max_pool_kernel(const KernelCall& call) {
  Run<T, Find::largest>{call, Widest<largest<T>>::get(), call.out[0].shape(), nullptr, {0, 1}}.all();
}

template <class T>
void pool_pick_kernel(const KernelCall& call) {
  Run<T, Find::winner>{call, Widest<pick<T>>::get(), call.out[0].shape(), call.in[1].as<T>(), {0, 1}}.all();
}

template <class T>
void pool_place_kernel(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  Run<T, Find::winner>{call, Widest<place<T>>::get(), call.in[1].shape(), call.in[1].as<T>(), {1, 0}}.all();
}

template <class T, Find find>
void put(OpInfo& row, void (*run)(const KernelCall&)) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.windows",
                   .run = run,
                   .contiguous_inputs = true,
                   .workspace = own_workspace<window_of<T, find>>});
}

template <class T>
void register_for(OpTable& table) {
  put<T, Find::largest>(table.at("max_pool"), max_pool_kernel<T>);
  put<T, Find::winner>(table.at("pool_pick"), pool_pick_kernel<T>);
  put<T, Find::winner>(table.at("pool_place"), pool_place_kernel<T>);
}

}  // namespace

void register_pooling_kernels(OpTable& table) {
  register_for<float>(table);
  register_for<double>(table);
}

}  // namespace lodestone::engine::cpu_backend
