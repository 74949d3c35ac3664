// SPDX-License-Identifier: Apache-2.0
// Parts of arrays: a range of each axis.
#pragma once

#include "engine/graph/shape.hpp"

#include <algorithm>
#include <string>

namespace lodestone::engine {

/// Elements first[k] … first[k] + extent[k] − 1 of each axis k of an array. Any extent may be 0.
struct Box {
  IntList first, extent;

  [[nodiscard]] static Box all_of(const Shape& shape) { return {IntList::filled(shape.rank(), 0), shape}; }
  [[nodiscard]] int rank() const { return extent.size(); }
  /// Returns the number of elements.
  [[nodiscard]] std::int64_t count() const { return Shape(extent).count(); }
  [[nodiscard]] bool is_empty() const { return extent.contains(0); }
  /// Returns the place behind the last one of an axis.
  [[nodiscard]] Dim end(int axis) const { return first[axis] + extent[axis]; }
  [[nodiscard]] std::string text() const {  ///< "[2 + 3, 0 + 4]": first places and extents
    std::string result;
    for (int axis = 0; axis < rank(); ++axis)
      result += (axis > 0 ? ", " : "") + std::to_string(first[axis]) + " + " + std::to_string(extent[axis]);
    return "[" + result + "]";
  }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Returns what two boxes of one array share; where that is nothing, some extent is 0.
[[nodiscard]] inline Box intersection(const Box& a, const Box& b) {
  Box result = a;
  for (int axis = 0; axis < a.rank(); ++axis) {
    result.first[axis] = std::max(a.first[axis], b.first[axis]);
    result.extent[axis] = std::max<Dim>(std::min(a.end(axis), b.end(axis)) - result.first[axis], 0);
  }
  return result;
}

}  // namespace lodestone::engine
