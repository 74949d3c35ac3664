// SPDX-License-Identifier: Apache-2.0
// What kind of function an op is, and which places of its operands each place of its result needs.
#pragma once

#include "engine/graph/attrs.hpp"
#include "engine/graph/box.hpp"

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

/// The arrays and attributes on which the axes of an op depend. `out`: a tuple where there are more results.
struct AxisArgs {
  std::span<const Aval> in;
  const Aval& out;
  const Attrs* attrs;
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(attrs);
  }
};

/// An index of the loops that an op stands for: it runs along axes of its results, or is combined over.
struct Label {
  enum class Kind : std::uint8_t {
    free,     ///< results for a part of it are that part of the results
    reduced,  ///< results for parts of it combine to those for all of it
    whole     ///< it must not be cut
  };
  Kind kind = Kind::free;
  Dim extent = 0;
  Dim grain = 1;  ///< parts start and end at multiples of it, or at the end
  friend bool operator==(const Label&, const Label&) = default;
};

/// Which places along an axis of an operand the places of labels need.
struct AxisAccess {
  enum class How : std::uint8_t {
    whole,    ///< all of them, whatever the labels are; also of an axis of one place that serves all
    same,     ///< place = label
    affine,   ///< place = stride · label + dilation · window + offset, where the axis has that place
    inverse,  ///< label = stride · place + dilation · window + offset, likewise
    blocks,   ///< rows of `divisor` elements that hold those rows of `stride` elements: a reshape
    indexed   ///< those that another operand names, so that all may be needed
  };
  Dim extent = 0;  ///< places of the axis
  How how = How::whole;
  int label = -1;
  Dim stride = 1, divisor = 1, offset = 0;
  int window = -1;                 ///< the label that runs within a window; −1: none does
  Dim n_window = 1, dilation = 1;  ///< places of a window without a label, and their distance

  /// Returns whether a label has a say in what is needed.
  [[nodiscard]] bool depends_on(int which) const { return which >= 0 && (label == which || window == which); }
  [[nodiscard]] bool is_sampled() const { return how == How::affine || how == How::inverse; }
  friend bool operator==(const AxisAccess&, const AxisAccess&) = default;
};

/// A range of places: first … first + extent − 1.
struct AxisRange {
  Dim first = 0, extent = 0;
  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

/// The loops that an op stands for, as far as they can be cut, and what they need of its operands.
struct AxisMap {
  static constexpr Dim added = -1;  ///< the operand lacks an axis and serves all its places alike

  std::vector<Label> labels;
  std::vector<std::vector<AxisAccess>> inputs;  ///< per operand and axis
  std::vector<IntList> outputs;                 ///< per result: the label of each of its axes
  Combine combine = Combine::sum;               ///< along all reduced labels

  /// Returns the axis of an operand that is a label, place by place; `added`: none is.
  [[nodiscard]] Dim axis_of(std::size_t input, int label) const;
  /// Sets what is needed of an axis, of which the extent stays.
  void set(std::size_t input, Dim axis, AxisAccess access);
  /// Adds a label; returns its number.
  int add(Label::Kind kind, Dim extent);
  /// Returns whether what is needed of an operand depends on a label.
  [[nodiscard]] bool depends_on(std::size_t input, int label) const;
  /// Returns per axis of the first result the axis of an operand that it is, place by place, or `added`.
  [[nodiscard]] IntList sources(std::size_t input) const;
  /// Returns the first axis of a single result that each marked operand has as an axis of its own. All else
  /// of these operands and all others must serve its places alike; −1: there is none.
  [[nodiscard]] int shared_axis(const std::vector<bool>& marked) const;
  /// Returns all places of all labels.
  [[nodiscard]] std::vector<AxisRange> all() const;
  /// Returns "[a, 2 b + d - 1, C] [c] -> [a, b]; sum over d": operands and results, a letter per label. Whole
  /// labels are capitals, "*" is all of an axis, "@" what another operand names.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// Returns the boxes of the operands that the op needs for these places of its labels.
///
/// An axis is whole where no label on which it depends is cut. Else places that it lacks (padding) and those
/// that nobody needs are left out. An operand keeps one place of an axis under windows, even if all they see
/// is padding. `labels`: a range for each. A range that is cut starts and ends at multiples of the grain; it
/// may be longer than the label where all accesses are `same`.
[[nodiscard]] std::vector<Box> operand_boxes(const AxisMap& map, std::span<const AxisRange> labels);
/// Returns the box of a result that the op gives for these places of its labels.
[[nodiscard]] Box result_box(const AxisMap& map, std::size_t output, std::span<const AxisRange> labels);
/// Returns the attributes with which the op gives `result_box` from `operand_boxes`. `attrs`: null for none.
[[nodiscard]] AttrsPtr attrs_of_part(const AxisMap& map, const AttrsPtr& attrs,
                                     std::span<const AxisRange> labels);

// Maps, and their parts.

/// Returns the access place = label.
[[nodiscard]] AxisAccess same_as(Dim label);
/// Returns the access place = stride · label + offset.
[[nodiscard]] AxisAccess affine_in(Dim label, Dim stride, Dim offset);
/// Returns the access label = stride · place + offset.
[[nodiscard]] AxisAccess inverse_in(Dim label, Dim stride, Dim offset);
/// Returns the map of an op with one result that needs all of all its operands; its labels, those of the
/// result, are of this kind.
[[nodiscard]] AxisMap needing_all(const AxisArgs& args, Label::Kind kind);
/// Returns the map of an op whose output and inputs have the same axes, of which these must be whole.
[[nodiscard]] AxisMap axis_by_axis(const AxisArgs& args, const Axes& whole = {});
/// Returns the map of an op whose inputs have the same axes and whose output lacks these, which must be
/// whole.
[[nodiscard]] AxisMap without_axes(const AxisArgs& args, const Axes& axes);
/// Returns the map of an op whose inputs have the same axes and whose output lacks these, which are reduced.
[[nodiscard]] AxisMap reduced_over(const AxisArgs& args, const Axes& axes, Combine how);
/// Returns the map of a reshape. An axis stays where both shapes have as many steps in front of it. Of axes
/// that go into each other, the first can be cut where rows of both end.
[[nodiscard]] AxisMap reshaped(const AxisArgs& args);
/// Returns the map of an op on right-hand sides, its last input [items…, k…, n]. Those of an item are apart;
/// the items and n must be whole.
[[nodiscard]] AxisMap by_right_hand_side(const AxisArgs& args, int n_item_axes);
/// Returns the map of an op of which nothing is known: all of every input is needed.
[[nodiscard]] AxisMap all_whole(const AxisArgs& args);

}  // namespace lodestone::engine
