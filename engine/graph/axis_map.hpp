// SPDX-License-Identifier: Apache-2.0
// What kind of function an op is, and how the axes of its output come from those of its inputs.
#pragma once

#include "engine/graph/attrs.hpp"

#include <span>
#include <vector>

namespace lodestone::engine {

/// The kind of an op, which says what it may be merged with and how its work may be split.
enum class OpClass : std::uint8_t {
  elementwise,  ///< an element of the output is made of those at its place in the inputs
  movement,     ///< elements come to other places, unchanged
  reduction,    ///< elements are combined along axes
  product,      ///< sums of products over axes that two inputs share
  window,       ///< elements are combined within windows that slide along axes
  scan,         ///< elements are accumulated along an axis
  random,       ///< numbers are drawn
  control,      ///< functions that the attributes hold are called, or their results taken apart
  external,     ///< code outside the engine is called
  opaque        ///< none of these
};
[[nodiscard]] std::string_view name_of(OpClass op_class);

/// The way from results for parts of an axis to that for all of it.
enum class Combine : std::uint8_t { sum, max, min };
[[nodiscard]] std::string_view name_of(Combine combine);

/// The arrays and attributes on which the axes of an op depend.
struct AxisArgs {
  std::span<const Aval> in;
  const Aval& out;
  const Attrs* attrs;
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(attrs);
  }
};

/// The sources of the axes of an op's output among those of its inputs.
///
/// An axis of the output may come from one axis of an input, of the same extent. Of this input, slice k of
/// the output then depends on slice k alone, and in the same way for every k. Several inputs may have such an
/// axis. An axis may also be reduced: of parts of it the results are combined to that of all.
struct AxisMap {
  static constexpr Dim added = -1;  ///< new: the input has no such axis and serves every slice alike
  static constexpr Dim whole = -2;  ///< a slice depends on more than one slice of the input

  /// The part of an input, of which an axis that is named in neither list must be whole.
  struct Input {
    IntList from;     ///< per axis of the output: the axis of this input, `added` or `whole`
    IntList reduced;  ///< per index over which results are combined: the axis of this input, or `added`; an
                      ///< index stands at the same place in all inputs
    friend bool operator==(const Input&, const Input&) = default;
  };
  std::vector<Input> inputs;
  Combine combine = Combine::sum;  ///< along all reduced axes

  [[nodiscard]] int n_reduced() const { return inputs.empty() ? 0 : inputs[0].reduced.size(); }
  /// Returns the first axis of the output that comes from an axis of the marked inputs, and of the others is
  /// `added`; -1: none.
  [[nodiscard]] int axis_of(const std::vector<bool>& marked) const;
  [[nodiscard]] std::string text() const;  ///< "0, whole, new; sum over 1", inputs parted by " | "
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// Returns the map of an op whose output and inputs have the same axes, of which these must be whole.
[[nodiscard]] AxisMap axis_by_axis(const AxisArgs& args, const Axes& whole = {});
/// Returns the map of an op whose inputs have the same axes and whose output lacks these, which must be
/// whole.
[[nodiscard]] AxisMap without_axes(const AxisArgs& args, const Axes& axes);
/// Returns the map of an op whose inputs have the same axes and whose output lacks these, which are reduced.
[[nodiscard]] AxisMap reduced_over(const AxisArgs& args, const Axes& axes, Combine how);
/// Returns the map of an op of which nothing is known: all of every input is needed.
[[nodiscard]] AxisMap all_whole(const AxisArgs& args);

}  // namespace lodestone::engine
