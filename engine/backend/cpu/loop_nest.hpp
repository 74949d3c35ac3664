// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/op_info.hpp"

namespace lodestone::engine::cpu_backend {

/// The loops over a row-major output and strided inputs, with neighbouring axes merged wherever all operands allow it: a contiguous
/// operation becomes one loop. The last loop is for the kernel; `for_each_row` walks over the others.
template <int n_inputs>
class LoopNest {
 public:
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
    if (n_axes_ == 0) n_axes_ = 1;  // a single element
  }

  [[nodiscard]] std::int64_t row_length() const { return extents_[0]; }
  [[nodiscard]] std::int64_t row_stride(int input) const { return strides_[0][input]; }
  /// row(first element of the output, first element of each input), in elements.
  template <class Row>
  void for_each_row(Row&& row) const {
    std::array<std::int64_t, Shape::max_size> index{};
    std::array<std::int64_t, n_inputs> offsets{};
    std::int64_t rows = 1;
    for (int axis = 1; axis < n_axes_; ++axis) rows *= extents_[axis];
    if (extents_[0] == 0) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      row(r * extents_[0], offsets);
      for (int axis = 1; axis < n_axes_; ++axis) {
        for (int k = 0; k < n_inputs; ++k) offsets[k] += strides_[axis][k];
        if (++index[axis] < extents_[axis]) break;
        for (int k = 0; k < n_inputs; ++k) offsets[k] -= extents_[axis] * strides_[axis][k];
        index[axis] = 0;
      }
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

  int n_axes_ = 0;
  std::array<std::int64_t, Shape::max_size> extents_{1};
  std::array<std::array<std::int64_t, n_inputs>, Shape::max_size> strides_{};
};

}  // namespace lodestone::engine::cpu_backend
