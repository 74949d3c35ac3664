// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/shape.hpp"

#include <optional>

namespace lodestone::engine {

struct Aval;
class Attrs;

/// Returns true if two lists of strides lead to the same elements: along an axis of extent 1 they may
/// differ, of an array without elements anywhere.
[[nodiscard]] inline bool same_steps(const Shape& shape, const Strides& a, const Strides& b) {
  if (a == b || (shape.contains(0) && a.size() == b.size())) return true;
  bool result = a.size() == b.size();
  for (int axis = 0; result && axis < shape.rank(); ++axis) result = shape[axis] == 1 || a[axis] == b[axis];
  return result;
}

/// The places of an array's elements in a buffer: element (i, j, …) stands at offset + i strides[0] +
/// j strides[1] + …, counted in elements. Several arrays may look at one buffer; none of them owns it.
struct Look {
  std::int64_t offset = 0;  ///< position of the first element
  Strides strides;

  /// Returns the look of an array that has a buffer to itself: row-major, without gaps.
  [[nodiscard]] static Look dense(const Shape& shape) { return {0, contiguous_strides(shape)}; }
  /// Returns true when elements lie row-major without gaps, wherever the first stands.
  [[nodiscard]] bool is_contiguous(const Shape& shape) const { return engine::is_contiguous(shape, strides); }
  /// The lowest and the highest position of an array that has elements.
  struct Reach {
    std::int64_t low, high;
  };
  [[nodiscard]] Reach reach(const Shape& shape) const {
    Reach result{offset, offset};
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t last = (shape[axis] - 1) * strides[axis];
      (last < 0 ? result.low : result.high) += last;
    }
    return result;
  }

  friend bool operator==(const Look&, const Look&) = default;
};

/// The rule of an op that moves no element but sees those of its input in another way: returns the look of
/// its output at the buffer that `look` shows as `in`. None: no strides say it, a kernel makes a copy.
using ViewRule = std::optional<Look> (*)(const Aval& in, const Look& look, const Attrs* attrs,
                                         const Aval& out);

}  // namespace lodestone::engine
