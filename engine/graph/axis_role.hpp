// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what a member of an attribute struct says of axes.
#pragma once

#include "engine/graph/shape.hpp"

namespace lodestone::engine {

/// The meaning of a number, or of each of a list, for the axes of an op's arrays. It decides what becomes of
/// the number when they all get one more axis in front. Extents are those of the output, and follow it.
enum class AxisRole : std::uint8_t {
  none,      ///< nothing: it stays
  index,     ///< which axis, or how many axes stand in front: one more
  in_front,  ///< which axis, of a list that the new one heads
  extent,    ///< the extent of each axis: the new one's in front
  zero,      ///< something of each axis, 0 for one that the op leaves as it is
  one        ///< likewise, but 1
};

namespace detail {
inline void put_axis_in_front(IntList& list, AxisRole role, Dim extent) {
  const bool has_axes = role == AxisRole::index || role == AxisRole::in_front;
  for (int i = 0; has_axes && i < list.size(); ++i) ++list[i];
  if (role == AxisRole::in_front || role == AxisRole::zero) list = list.inserted(0, 0);
  if (role == AxisRole::one) list = list.inserted(0, 1);
  if (role == AxisRole::extent) list = list.inserted(0, extent);
}
inline void put_axis_in_front(int& number, AxisRole role, Dim) { number += role == AxisRole::index ? 1 : 0; }
inline void set_extent(IntList& list, AxisRole role, int axis, Dim extent) {
  if (role == AxisRole::extent) list[axis] = extent;
}
/// Other members say nothing of axes.
template <class T>
requires(!std::is_base_of_v<IntList, T>) void put_axis_in_front(T&, AxisRole, Dim) {}
template <class T>
requires(!std::is_base_of_v<IntList, T>) void set_extent(T&, AxisRole, int, Dim) {}
}  // namespace detail

}  // namespace lodestone::engine
