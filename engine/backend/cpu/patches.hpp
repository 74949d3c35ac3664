// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/backend/cpu/triple.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <array>

namespace lodestone::engine::cpu_backend {

/// The patch matrix of a convolution, never whole: one row per output position, one column per (window
/// element, channel of the group); zeros outside x. Up to 3 spatial axes; missing ones count as extent 1. All
/// arrays row-major without gaps.
class Patches {
 public:
  Patches(const ConvAttrs& attrs, const Shape& x, const Shape& w, const Shape& y) {
    const int n = x.rank() - 2;
    const Triple extent = triple(x, 1, n, 1), window = triple(w, 0, n, 1), positions = triple(y, 1, n, 1),
                 stride = triple(attrs.stride, 0, n, 1), low = triple(attrs.low, 0, n, 0),
                 dilation = triple(attrs.dilation, 0, n, 1);
    for (std::size_t i = 0; i < 3; ++i)
      axes_[i] = {extent[i], window[i], positions[i], stride[i], low[i], dilation[i]};
    batch_ = x[0];
    channels_ = x[n + 1];
    of_group_ = w[n];
  }

  [[nodiscard]] Dim n_rows() const {
    return batch_ * axes_[0].positions * axes_[1].positions * axes_[2].positions;
  }
  [[nodiscard]] Dim row_length() const {
    return axes_[0].window * axes_[1].window * axes_[2].window * of_group_;
  }

  /// Rows [first, first + n) of the patch matrix of a group.
  template <class T>
  void gather(const T* x, int group, Dim first, Dim n, T* rows) const {
    walk(group, first, n, [&](Dim from, Dim to) {
      if (from < 0) {
        std::fill_n(rows + to, of_group_, T(0));
      } else {
        std::copy_n(x + from, of_group_, rows + to);
      }
    });
  }
  /// Adds the rows back to where they come from.
  template <class T>
  void scatter_add(const T* rows, int group, Dim first, Dim n, T* x) const {
    walk(group, first, n, [&](Dim from, Dim to) {
      if (from < 0) return;
      for (Dim c = 0; c < of_group_; ++c) x[from + c] += rows[to + c];
    });
  }

 private:
  struct Axis {
    Dim extent, window, positions, stride, low, dilation;
    [[nodiscard]] Dim place(Dim position, Dim in_window) const {
      return position * stride + in_window * dilation - low;
    }
    [[nodiscard]] bool holds(Dim place) const { return place >= 0 && place < extent; }
  };

  /// piece(offset of the channels in x, or -1 outside; offset in the rows).
  template <class Piece>
  void walk(int group, Dim first, Dim n, Piece&& piece) const {
    const auto& [a, b, c] = axes_;
    Dim to = 0;
    for (Dim row = first; row < first + n; ++row) {
      const Dim r = row % c.positions, q = row / c.positions % b.positions,
                p = row / c.positions / b.positions % a.positions;
      const Dim item = row / c.positions / b.positions / a.positions;
      for (Dim i = 0; i < a.window; ++i) {
        const Dim at_a = a.place(p, i);
        for (Dim j = 0; j < b.window; ++j) {
          const Dim at_b = b.place(q, j);
          const bool holds = a.holds(at_a) && b.holds(at_b);
          const Dim line = ((item * a.extent + at_a) * b.extent + at_b) * c.extent;
          for (Dim k = 0; k < c.window; ++k, to += of_group_) {
            const Dim at_c = c.place(r, k);
            piece(holds && c.holds(at_c) ? (line + at_c) * channels_ + group * of_group_ : -1, to);
          }
        }
      }
    }
  }

  std::array<Axis, 3> axes_{};
  Dim batch_, channels_, of_group_;
};

}  // namespace lodestone::engine::cpu_backend
