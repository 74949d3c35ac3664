// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/window_passes.hpp"

namespace lodestone::engine::cpu_backend {

AxisPlan::AxisPlan(const Geometry& g, std::size_t axis, Direction direction)
    : direction_(direction),
      n_outputs_(direction == Direction::forward ? g.positions[axis] : g.extent[axis]),
      window_(g.window[axis]),
      stride_(g.stride[axis]),
      dilation_(g.dilation[axis]),
      padding_(g.low[axis]) {
  if (direction == Direction::forward) {
    n_passes_ = 1;
    low_ = padding_;
    size_ = std::max<Dim>(n_outputs_ - 1, 0) * stride_ + (window_ - 1) * dilation_ + 1;
    return;
  }
  n_passes_ = std::min(stride_, n_outputs_);
  Dim lowest = 0, highest = 0;
  for (Dim q = 0; q < n_passes_; ++q) {
    for_each_tap(q, [&](Dim, Dim at) {
      lowest = std::min(lowest, at);
      highest = std::max(highest, at + pass(q).n - 1);
    });
  }
  low_ = -lowest;  // until here 0, so that offsets were those in the item
  size_ = highest - lowest + 1;
}

AxisPass AxisPlan::pass(Dim i) const {
  if (direction_ == Direction::forward) return {0, 1, n_outputs_, stride_};
  return {i, stride_, (n_outputs_ - i + stride_ - 1) / stride_, 1};
}

}  // namespace lodestone::engine::cpu_backend
