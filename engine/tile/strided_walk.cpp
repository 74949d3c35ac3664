// SPDX-License-Identifier: Apache-2.0
#include "engine/tile/strided_walk.hpp"

#include <algorithm>
#include <complex>

namespace lodestone::engine::cpu_backend {

StridedWalk::StridedWalk(const View& operand, const IntList& from, const Shape& space)
    : size_(core::size_of(operand.aval->dtype)) {
  for (int axis = space.rank() - 1; axis >= 0; --axis) {
    if (space[axis] == 1) continue;
    const std::int64_t stride = from[axis] < 0 ? 0 : (*operand.strides)[static_cast<int>(from[axis])];
    const auto last = static_cast<std::size_t>(n_axes_ - 1);
    if (n_axes_ > 0 && stride == strides_[last] * extents_[last]) {
      extents_[last] *= space[axis];
    } else {
      extents_[last + 1] = space[axis];
      strides_[last + 1] = stride;
      ++n_axes_;
    }
  }
}

StridedWalk::Repetition StridedWalk::repetition() const {
  std::int64_t period = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(n_axes_); ++axis) {
    if (strides_[axis] == 0) return {axis == 0 ? 0 : period, period * extents_[axis]};
    period *= extents_[axis];
  }
  return {0, 0};
}

/// Fills n elements with those of the first period.
template <class T>
void repeat(T* out, std::int64_t period, std::int64_t n) {
  for (std::int64_t filled = period; filled < n; filled *= 2)
    std::copy_n(out, std::min(filled, n - filled), out + filled);
}

template <class T>
void StridedWalk::copy_as(const T* operand, std::int64_t first, std::int64_t n, T* out) const {
  std::array<std::int64_t, Shape::max_size> index{};
  std::int64_t rest = first;
  const auto n_axes = static_cast<std::size_t>(n_axes_);
  for (std::size_t axis = 0; axis < n_axes; ++axis) {
    index[axis] = rest % extents_[axis];
    rest /= extents_[axis];
    operand += index[axis] * strides_[axis];
  }
  const std::int64_t step = strides_[0];
  const bool repeats = n_axes_ > 1 && strides_[1] == 0;
  while (n > 0) {
    const std::int64_t length = std::min(n, extents_[0] - index[0]);
    if (step == 1) {
      std::copy_n(operand, length, out);
    } else if (step == 0) {
      std::fill_n(out, length, *operand);
    } else {
      for (std::int64_t i = 0; i < length; ++i) out[i] = operand[i * step];
    }
    std::int64_t n_rows = 1;
    if (repeats && index[0] == 0 && length == extents_[0]) {
      n_rows = std::min(n / length, extents_[1] - index[1]);
      repeat(out, length, n_rows * length);
    }
    out += n_rows * length;
    n -= n_rows * length;
    operand += (n_rows - 1) * strides_[1] - index[0] * step;
    index[0] = 0;
    index[1] += n_rows - 1;
    for (std::size_t axis = 1; axis < n_axes; ++axis) {
      operand += strides_[axis];
      if (++index[axis] < extents_[axis]) break;
      operand -= extents_[axis] * strides_[axis];
      index[axis] = 0;
    }
  }
}

void StridedWalk::copy(const std::byte* operand, std::int64_t first, std::int64_t n, std::byte* out) const {
  const auto as = [&]<class T>(T) {
    copy_as(reinterpret_cast<const T*>(operand), first, n, reinterpret_cast<T*>(out));
  };
  switch (size_) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    case 8:
      return as(std::uint64_t{});
    default:
      return as(std::complex<double>{});
  }
}

}  // namespace lodestone::engine::cpu_backend
