// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/shape.hpp"

#include "engine/core/error.hpp"

#include <fmt/ranges.h>

#include <numeric>

namespace lodestone::engine {

IntList::IntList(std::span<const Dim> values) : size_(static_cast<int>(values.size())) {
  if (values.size() > max_size)
    throw core::ShapeError("engine#too_many_axes", "expected at most {} axes, got {}", max_size,
                           values.size());
  std::copy(values.begin(), values.end(), values_.begin());
}

IntList IntList::filled(int size, Dim value) {
  IntList list;
  for (int i = 0; i < size; ++i) list.push_back(value);
  return list;
}

IntList IntList::counting(int size, Dim first) {
  IntList list = filled(size, 0);
  std::iota(list.values_.begin(), list.values_.begin() + list.size_, first);  // none for a negative size
  return list;
}

void IntList::push_back(Dim value) {
  if (size_ == max_size)
    throw core::ShapeError("engine#too_many_axes", "expected at most {} axes, got one more", max_size);
  values_[static_cast<std::size_t>(size_++)] = value;
}

IntList IntList::inserted(int before, Dim value) const {
  IntList list = *this;
  list.push_back(value);
  std::rotate(list.values_.begin() + before, list.values_.begin() + size_, list.values_.begin() + size_ + 1);
  return list;
}

IntList IntList::erased(int at) const {
  IntList list = *this;
  std::copy(begin() + at + 1, end(), list.values_.begin() + at);
  --list.size_;
  return list;
}

std::string IntList::text() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

Strides contiguous_strides(const Shape& shape) {
  Strides strides = IntList::filled(shape.rank(), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * std::max<Dim>(shape[axis + 1], 1);
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  Dim expected = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 0) return true;
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

}  // namespace lodestone::engine
