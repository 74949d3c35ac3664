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
  while (n > 0) {
    const std::int64_t length = std::min(n, extents_[0] - index[0]);
    if (step == 1) {
      std::copy_n(operand, length, out);
    } else if (step == 0) {
      std::fill_n(out, length, *operand);
    } else {
      for (std::int64_t i = 0; i < length; ++i) out[i] = operand[i * step];
    }
    out += length;
    n -= length;
    operand -= index[0] * step;
    index[0] = 0;
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
