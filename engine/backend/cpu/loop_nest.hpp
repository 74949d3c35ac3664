// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/backend/cpu/share.hpp"
#include "engine/graph/op_info.hpp"

namespace lodestone::engine::cpu_backend {

/// Two loops over a row-major output without gaps: `rows` rows of `length` elements, and how far an input's elements and rows are apart.
template <int n_inputs>
struct Plane {
  std::int64_t rows, length;
  std::array<std::int64_t, n_inputs> step, row_step;
};

/// The loops over a row-major output and strided inputs, with neighbouring axes merged wherever all operands allow it: a contiguous operation becomes one
/// loop. The two innermost are for the kernel; `for_each_plane` walks over the others, on several threads where it pays.
template <int n_inputs>
class LoopNest {
 public:
  using Offsets = std::array<std::int64_t, n_inputs>;

  explicit LoopNest(const KernelCall& call) {
    const Shape& shape = call.out.shape();
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] == 1) continue;
      if (n_axes_ > 0 && merges(call, axis)) {
        extents_[n_axes_ - 1] *= shape[axis];
        continue;
      }
      extents_[n_axes_] = shape[axis];
      for (int k = 0; k < n_inputs; ++k) strides_[n_axes_][k] = (*call.in[k].strides)[axis];
      ++n_axes_;
    }
    for (; n_axes_ < 2; ++n_axes_) extents_[n_axes_] = 1;
  }

  /// work(plane, first element of the output, first element of each input), in elements. `cost`: operations per element, roughly.
  template <class Work>
  void for_each_plane(double cost, Work&& work) const {
    std::int64_t outer = 1;
    for (int axis = 2; axis < n_axes_; ++axis) outer *= extents_[axis];
    const double all = cost * static_cast<double>(outer * extents_[1] * extents_[0]);
    if (outer == 0) return;
    if (outer > 1) {
      share(outer, all, [&](Dim first, Dim last) { walk(first, last, work); });
    } else if (extents_[1] > 1) {
      share(extents_[1], all, [&](Dim first, Dim last) { piece(work, 1, first, last - first); });
    } else {
      share(extents_[0], all, [&](Dim first, Dim last) { piece(work, 0, first, last - first); });
    }
  }

 private:
  /// True when stepping over this axis is the same as running on past the end of the axes merged so far.
  [[nodiscard]] bool merges(const KernelCall& call, int axis) const {
    for (int k = 0; k < n_inputs; ++k) {
      if ((*call.in[k].strides)[axis] != strides_[n_axes_ - 1][k] * extents_[n_axes_ - 1]) return false;
    }
    return true;
  }

  /// Part of the one plane there is: `count` elements or rows from `first` on.
  template <class Work>
  void piece(Work& work, std::size_t axis, std::int64_t first, std::int64_t count) const {
    Plane<n_inputs> plane{extents_[1], extents_[0], strides_[0], strides_[1]};
    (axis == 0 ? plane.length : plane.rows) = count;
    Offsets offsets;
    for (std::size_t k = 0; k < n_inputs; ++k) offsets[k] = first * strides_[axis][k];
    if (plane.rows * plane.length > 0) work(plane, first * (axis == 0 ? 1 : extents_[0]), offsets);
  }

  template <class Work>
  void walk(std::int64_t first, std::int64_t last, Work& work) const {
    const Plane<n_inputs> plane{extents_[1], extents_[0], strides_[0], strides_[1]};
    const std::int64_t size = extents_[0] * extents_[1];
    if (size == 0) return;
    std::array<std::int64_t, Shape::max_size> index{};
    Offsets offsets{};
    std::int64_t rest = first;
    for (int axis = 2; axis < n_axes_; ++axis) {
      index[axis] = rest % extents_[axis];
      rest /= extents_[axis];
      for (int k = 0; k < n_inputs; ++k) offsets[k] += index[axis] * strides_[axis][k];
    }
    for (std::int64_t at = first; at < last; ++at) {
      work(plane, at * size, offsets);
      for (int axis = 2; axis < n_axes_; ++axis) {
        for (int k = 0; k < n_inputs; ++k) offsets[k] += strides_[axis][k];
        if (++index[axis] < extents_[axis]) break;
        for (int k = 0; k < n_inputs; ++k) offsets[k] -= extents_[axis] * strides_[axis][k];
        index[axis] = 0;
      }
    }
  }

  int n_axes_ = 0;
  std::array<std::int64_t, Shape::max_size + 2> extents_{1, 1};
  std::array<std::array<std::int64_t, n_inputs>, Shape::max_size + 2> strides_{};
};

}  // namespace lodestone::engine::cpu_backend
