// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lodestone::engine {

/// A block of indices of a tensor: the first index and the extent along each axis.
///
/// Boxes without elements are ordinary. They may lie anywhere, and their first indices say nothing.
struct Box {
  IntList first;
  Shape shape;

  /// Returns the box of all indices of a tensor.
  [[nodiscard]] static Box whole(const Shape& shape) { return {IntList::filled(shape.rank(), 0), shape}; }
  [[nodiscard]] int rank() const { return shape.rank(); }
  /// Returns the number of elements.
  [[nodiscard]] std::int64_t count() const { return shape.count(); }
  [[nodiscard]] bool is_empty() const { return shape.contains(0); }
  /// Returns the index behind the last one along an axis.
  [[nodiscard]] Dim end(int axis) const { return first[axis] + shape[axis]; }
  /// Returns true if every element of another box lies in this one.
  [[nodiscard]] bool contains(const Box& other) const {
    bool fits = true;
    for (int axis = 0; axis < rank(); ++axis)
      fits = fits && first[axis] <= other.first[axis] && other.end(axis) <= end(axis);
    return fits || other.is_empty();
  }
  [[nodiscard]] std::string text() const {  ///< "[0:3, 4:8]": from the first index to before the second
    std::string result;
    for (int axis = 0; axis < rank(); ++axis)
      result += fmt::format("{}{}:{}", axis == 0 ? "" : ", ", first[axis], end(axis));
    return "[" + result + "]";
  }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Returns the elements that lie in both boxes. shapes: both boxes have the same rank.
[[nodiscard]] inline Box intersection(const Box& a, const Box& b) {
  Box result;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const Dim first = std::max(a.first[axis], b.first[axis]);
    result.first.push_back(first);
    result.shape.push_back(std::max<Dim>(std::min(a.end(axis), b.end(axis)) - first, 0));
  }
  return result;
}

/// Returns a box as seen from the first index of another one, in which it lies.
[[nodiscard]] inline Box within(const Box& box, const Box& around) {
  Box result = box;
  for (int axis = 0; axis < box.rank(); ++axis) result.first[axis] -= around.first[axis];
  return result;
}

/// Returns disjoint boxes of the elements of `a` that do not lie in `b`: at most two per axis, none empty.
[[nodiscard]] inline std::vector<Box> difference(const Box& a, const Box& b) {
  const Box both = intersection(a, b);
  if (a.is_empty()) return {};
  if (both.is_empty()) return {a};
  std::vector<Box> result;
  Box rest = a;
  for (int axis = 0; axis < a.rank(); ++axis) {
    Box before = rest, behind = rest;
    before.shape[axis] = both.first[axis] - rest.first[axis];
    behind.first[axis] = both.end(axis);
    behind.shape[axis] = rest.end(axis) - both.end(axis);
    if (!before.is_empty()) result.push_back(before);
    if (!behind.is_empty()) result.push_back(behind);
    rest.first[axis] = both.first[axis];
    rest.shape[axis] = both.shape[axis];
  }
  return result;
}

}  // namespace lodestone::engine
