// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/loop_nest.hpp"

#include "engine/backend/cpu/share.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// The loops of a call; extents and strides innermost first, in elements.
template <int n_inputs>
class LoopNest {
 public:
  LoopNest(const KernelCall& call, PlaneFn plane)
      : run_(plane), out_(call.out[0].data), size_out_(size_of(call.out[0])) {
    const Shape& shape = call.out[0].shape();
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] == 1) continue;
      if (n_axes_ > 0 && merges(call, axis)) {
        extents_[n_axes_ - 1] *= shape[axis];
        continue;
      }
      extents_[n_axes_] = shape[axis];
      for (std::size_t k = 0; k < n_inputs; ++k) strides_[n_axes_][k] = (*call.in[k].strides)[axis];
      ++n_axes_;
    }
    n_axes_ = std::max<std::size_t>(n_axes_, 2);  // of extent 1 where there were fewer
    for (std::size_t k = 0; k < n_inputs; ++k) {
      in_[k] = call.in[k].data;
      size_in_[k] = size_of(call.in[k]);
    }
  }

  void run(double cost) const {
    std::int64_t outer = 1;
    for (std::size_t axis = 2; axis < n_axes_; ++axis) outer *= extents_[axis];
    const double work = cost * static_cast<double>(outer * extents_[1] * extents_[0]);
    if (work == 0.0) return;
    if (outer > 1) {
      share(outer, work, [&](Dim first, Dim last) { walk(first, last); });
    } else {
      const std::size_t split = extents_[1] > 1 ? 1 : 0;
      share(extents_[split], work, [&](Dim first, Dim last) { piece(split, first, last - first); });
    }
  }

 private:
  [[nodiscard]] static std::int64_t size_of(const View& view) {
    return static_cast<std::int64_t>(core::size_of(view.aval->dtype));
  }

  /// True when stepping over this axis is the same as running on past the end of the axes merged so far.
  [[nodiscard]] bool merges(const KernelCall& call, int axis) const {
    for (std::size_t k = 0; k < n_inputs; ++k) {
      if ((*call.in[k].strides)[axis] != strides_[n_axes_ - 1][k] * extents_[n_axes_ - 1]) return false;
    }
    return true;
  }

  /// Part of the one plane there is: `count` elements or rows from `first` on.
  void piece(std::size_t axis, std::int64_t first, std::int64_t count) const {
    Plane plane{extents_[1], extents_[0], strides_[0], strides_[1]};
    (axis == 0 ? plane.length : plane.rows) = count;
    auto in = in_;
    for (std::size_t k = 0; k < n_inputs; ++k) in[k] += first * strides_[axis][k] * size_in_[k];
    run_(plane, out_ + first * (axis == 0 ? 1 : extents_[0]) * size_out_, in);
  }

  /// Planes first … last − 1.
  void walk(std::int64_t first, std::int64_t last) const {
    const Plane plane{extents_[1], extents_[0], strides_[0], strides_[1]};
    std::array<std::int64_t, Shape::max_size> index{};
    auto in = in_;
    std::int64_t rest = first;
    for (std::size_t axis = 2; axis < n_axes_; ++axis) {
      index[axis] = rest % extents_[axis];
      rest /= extents_[axis];
      for (std::size_t k = 0; k < n_inputs; ++k) in[k] += index[axis] * strides_[axis][k] * size_in_[k];
    }
    for (std::int64_t at = first; at < last; ++at) {
      run_(plane, out_ + at * extents_[0] * extents_[1] * size_out_, in);
      for (std::size_t axis = 2; axis < n_axes_; ++axis) {
        for (std::size_t k = 0; k < n_inputs; ++k) in[k] += strides_[axis][k] * size_in_[k];
        if (++index[axis] < extents_[axis]) break;
        for (std::size_t k = 0; k < n_inputs; ++k) in[k] -= extents_[axis] * strides_[axis][k] * size_in_[k];
        index[axis] = 0;
      }
    }
  }

  PlaneFn run_;
  std::byte* out_;
  std::int64_t size_out_;
  PlaneInputs in_{};
  std::array<std::int64_t, n_inputs> size_in_;
  std::size_t n_axes_ = 0;
  std::array<std::int64_t, Shape::max_size> extents_{1, 1};
  std::array<std::array<std::int64_t, Plane::most_inputs>, Shape::max_size> strides_{};
};

}  // namespace

template <int n_inputs>
void run_planes(const KernelCall& call, double cost, PlaneFn plane) {
  LoopNest<n_inputs>(call, plane).run(cost);
}

template void run_planes<1>(const KernelCall&, double, PlaneFn);
template void run_planes<2>(const KernelCall&, double, PlaneFn);
template void run_planes<3>(const KernelCall&, double, PlaneFn);

}  // namespace lodestone::engine::cpu_backend
