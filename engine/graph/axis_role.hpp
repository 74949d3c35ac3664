// SPDX-License-Identifier: Apache-2.0
// What the members of an attribute struct say of the axes of an op's arrays, and what becomes of them when
// these arrays get one more axis or other extents.
#pragma once

#include "engine/graph/shape.hpp"

#include <array>
#include <type_traits>

namespace lodestone::engine {

/// The meaning of a number, or of each of a list, for the axes of an op's arrays. `axes_of` and the functions
/// below it make roles.
struct AxisRole {
  enum class Is : std::uint8_t {
    plain,       ///< nothing of axes
    axes,        ///< axes of an operand
    paired,      ///< axes of an operand that other operands have, too; a new one of all heads the list
    n_in_front,  ///< a number of axes that all operands have in front
    extents,     ///< the extent of each axis of the result
    each,        ///< something of each axis, `neutral` for one that the op leaves as it is
    offsets,     ///< first places that are needed along an axis (`AxisAccess::offset`)
    rests,       ///< places beyond its end
    windows      ///< the extent of the result along the axis of a window
  };
  Is is = Is::plain;
  int of = 0;       ///< the operand; of lists by axis: which axis of the array the first entry is for
  Dim neutral = 0;  ///< the entry of `each` and `offsets` for a new axis
  int sign = 1;     ///< for offsets and rests: −1 where the attribute counts them negative
};

[[nodiscard]] constexpr AxisRole axes_of(int operand) { return {AxisRole::Is::axes, operand}; }
[[nodiscard]] constexpr AxisRole paired_axes_of(int operand) { return {AxisRole::Is::paired, operand}; }
inline constexpr AxisRole axes_in_front{AxisRole::Is::n_in_front};
inline constexpr AxisRole extents_of_result{AxisRole::Is::extents};
[[nodiscard]] constexpr AxisRole per_axis(Dim neutral) { return {AxisRole::Is::each, 0, neutral}; }
// Lists whose first entry is for axis `from` of operand 0; only lists for all axes take a new one.
[[nodiscard]] constexpr AxisRole offsets_from(int from, int sign) {
  return {AxisRole::Is::offsets, from, 0, sign};
}
[[nodiscard]] constexpr AxisRole rests_from(int from, int sign) {
  return {AxisRole::Is::rests, from, 0, sign};
}
[[nodiscard]] constexpr AxisRole window_extents_from(int from) { return {AxisRole::Is::windows, from}; }

/// One more axis in front of the result and of operands.
struct NewAxis {
  Dim extent = 1;
  std::uint64_t lacks = 0;  ///< bit i: operand i does not get it
  [[nodiscard]] bool is_in(int operand) const { return (lacks >> operand & 1) == 0; }
};

/// Other extents of the arrays, as far as attributes depend on them.
struct NewExtents {
  static constexpr Dim unchanged = -1;
  IntList result;  ///< per axis of the result: its extent, or `unchanged`
  /// Changes of the places along an axis of operand 0 that is sampled with an offset.
  struct Sampled {
    bool is_changed = false;
    Dim shift = 0;   ///< the new offset less the old one
    Dim rest = 0;    ///< places beyond the axis
    Dim result = 0;  ///< the extent of the axis of the result that belongs to it
  };
  std::array<Sampled, IntList::max_size> sampled{};
};

namespace detail {

/// Changes a member for arrays with one more axis; returns false where it cannot say what they then mean.
inline bool fit_member(IntList& list, const AxisRole& role, const NewAxis& axis) {
  using enum AxisRole::Is;
  const bool is_shifted = (role.is == axes || role.is == paired) && axis.is_in(role.of);
  for (int i = 0; is_shifted && i < list.size(); ++i) ++list[i];
  if (role.is == paired && axis.lacks == 0) list = list.inserted(0, 0);
  if (role.is == each) list = list.inserted(0, role.neutral);
  if (role.is == extents) list = list.inserted(0, axis.extent);
  const bool is_by_axis = role.is == offsets || role.is == rests;
  if (is_by_axis) list = list.inserted(0, 0);
  return !(is_by_axis && role.of > 0);
}
inline bool fit_member(int& number, const AxisRole& role, const NewAxis& axis) {
  using enum AxisRole::Is;
  if (role.is == axes && axis.is_in(role.of)) ++number;
  if (role.is == n_in_front && axis.lacks != 0) return number == 0;
  if (role.is == n_in_front) ++number;
  return true;
}
/// Changes a member for arrays of other extents.
inline bool fit_member(IntList& list, const AxisRole& role, const NewExtents& to) {
  using enum AxisRole::Is;
  for (int i = 0; i < list.size(); ++i) {
    if (role.is == extents && to.result[i] != NewExtents::unchanged) list[i] = to.result[i];
    const bool is_sampled = role.is == offsets || role.is == rests || role.is == windows;
    if (!is_sampled || !to.sampled[static_cast<std::size_t>(role.of + i)].is_changed) continue;
    const NewExtents::Sampled& now = to.sampled[static_cast<std::size_t>(role.of + i)];
    if (role.is == offsets) list[i] += role.sign * now.shift;
    if (role.is == rests) list[i] = role.sign * now.rest;
    if (role.is == windows) list[i] = now.result;
  }
  return true;
}
/// Members that are no numbers say nothing of axes. Types that do have a function beside their definition.
template <class T, class Change>
requires(!std::is_base_of_v<IntList, T>) bool fit_member(T&, const AxisRole&, const Change&) { return true; }

}  // namespace detail

}  // namespace lodestone::engine
