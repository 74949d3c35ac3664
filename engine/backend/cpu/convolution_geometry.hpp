// SPDX-License-Identifier: Apache-2.0
// What all loops of a direct convolution know of it.
#pragma once

#include "engine/backend/cpu/triple.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {

[[nodiscard]] inline Dim volume(const Triple& of) { return of[0] * of[1] * of[2]; }

/// x [n, extent, channels], w [window, of_group, k], y [n, positions, k].
struct Geometry {
  Triple extent, window, positions, stride, low, dilation;
  Dim items, channels, k, of_group, k_group;
  int groups;

  Geometry(const ConvAttrs& attrs, const Shape& x, const Shape& w, const Shape& y) {
    const int n = x.rank() - 2;
    extent = triple(x, 1, n, 1);
    window = triple(w, 0, n, 1);
    positions = triple(y, 1, n, 1);
    stride = triple(attrs.stride, 0, n, 1);
    low = triple(attrs.low, 0, n, 0);
    dilation = triple(attrs.dilation, 0, n, 1);
    items = x[0];
    channels = x.back();
    k = y.back();
    groups = attrs.groups;
    of_group = w[n];
    k_group = k / groups;
  }
  [[nodiscard]] Dim n_taps() const { return volume(window); }
  /// Returns the nanoseconds that the convolution of elements of T takes on one thread, roughly. Few channels
  /// take as long as some more.
  template <class T>
  [[nodiscard]] double ns() const {
    const double flops = 2.0 * static_cast<double>(items * volume(positions) * n_taps()) *
                         static_cast<double>(std::max<Dim>(of_group, 4) * std::max<Dim>(k, 8));
    return flops * (sizeof(T) == 4 ? 0.01 : 0.02);
  }
};

/// The place of an item in its padded copy: element i of an axis is i − low of the item, zero outside.
struct Box {
  Triple extent, low, size;
  Dim channels, depth;  ///< number in the item, number in the group that is copied

  [[nodiscard]] Dim count() const { return volume(size) * depth; }
  [[nodiscard]] Dim step(std::size_t axis) const {
    return axis == 2 ? depth : axis == 1 ? size[2] * depth : size[1] * size[2] * depth;
  }

  template <class T>
  void fill(const T* item, T* to) const {
    const Dim before = std::clamp<Dim>(low[2], 0, size[2]),
              last = std::clamp<Dim>(extent[2] + low[2], before, size[2]);
    for (Dim a = 0; a < size[0]; ++a) {
      for (Dim b = 0; b < size[1]; ++b, to += step(1)) {
        const Dim from_a = a - low[0], from_b = b - low[1];
        if (from_a < 0 || from_a >= extent[0] || from_b < 0 || from_b >= extent[1]) {
          std::fill_n(to, step(1), T(0));
          continue;
        }
        const T* from = item + ((from_a * extent[1] + from_b) * extent[2] + before - low[2]) * channels;
        std::fill_n(to, before * depth, T(0));
        if (depth == channels) {
          std::copy_n(from, (last - before) * depth, to + before * depth);
        } else {
          for (Dim c = before; c < last; ++c)
            std::copy_n(from + (c - before) * channels, depth, to + c * depth);
        }
        std::fill_n(to + last * depth, (size[2] - last) * depth, T(0));
      }
    }
  }
};

}  // namespace lodestone::engine::cpu_backend
