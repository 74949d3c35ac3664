// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/axis_map.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace lodestone::engine {
namespace {

/// Returns a / b rounded down; b > 0.
Dim floor_of(Dim a, Dim b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
Dim ceiling_of(Dim a, Dim b) { return -floor_of(-a, b); }

/// The ranges that an access depends on.
struct Places {
  AxisRange label, window;
};
Places places_of(const AxisAccess& access, std::span<const AxisRange> labels) {
  const auto at = [&](int label) { return labels[static_cast<std::size_t>(label)]; };
  return {access.label < 0 ? AxisRange{} : at(access.label),
          access.window < 0 ? AxisRange{0, access.n_window} : at(access.window)};
}

/// Returns the range first … last, as far as the axis has it.
AxisRange clipped(Dim first, Dim last, const AxisAccess& access) {
  const Dim from = std::clamp<Dim>(first, 0, access.extent), to = std::min(last + 1, access.extent);
  return {from, std::max<Dim>(to - from, 0)};
}

/// Returns it for an access with an offset.
AxisRange sampled(const AxisAccess& access, const Places& at) {
  const auto& [label, window] = at;
  if (label.extent == 0 || window.extent == 0) return {};
  const Dim last_label = label.first + label.extent - 1, last_window = window.first + window.extent - 1,
            stride = access.stride;
  Dim first = 0, last = 0;
  if (access.how == AxisAccess::How::affine) {
    const Dim one_end = stride * label.first, other_end = stride * last_label;
    first = std::min(one_end, other_end) + access.dilation * window.first + access.offset;
    last = std::max(one_end, other_end) + access.dilation * last_window + access.offset;
  } else {
    first = ceiling_of(label.first - access.dilation * last_window - access.offset, stride);
    last = floor_of(last_label - access.dilation * window.first - access.offset, stride);
  }
  const AxisRange range = clipped(first, last, access);
  const bool has_window = access.window >= 0 || access.n_window > 1;
  if (range.extent > 0 || !has_window || access.extent == 0) return range;
  return {std::clamp<Dim>(first, 0, access.extent - 1), 1};
}

bool is_cut(const AxisMap& map, Dim label, std::span<const AxisRange> labels) {
  const auto at = static_cast<std::size_t>(label);
  return label >= 0 && !(labels[at] == AxisRange{0, map.labels[at].extent});
}

/// Returns whether attributes must follow what is needed of an axis.
bool is_cut(const AxisMap& map, const AxisAccess& access, std::span<const AxisRange> labels) {
  return is_cut(map, access.label, labels) || is_cut(map, access.window, labels);
}

AxisRange range_of(const AxisMap& map, const AxisAccess& access, std::span<const AxisRange> labels) {
  if (!is_cut(map, access, labels)) return {0, access.extent};
  const Places at = places_of(access, labels);
  switch (access.how) {
    case AxisAccess::How::same:
      return at.label;
    case AxisAccess::How::affine:
    case AxisAccess::How::inverse:
      return sampled(access, at);
    case AxisAccess::How::blocks: {
      const Dim first = floor_of(at.label.first * access.stride, access.divisor);
      const Dim end = ceiling_of((at.label.first + at.label.extent) * access.stride, access.divisor);
      return {first, end - first};
    }
    case AxisAccess::How::whole:
    case AxisAccess::How::indexed:
      return {0, access.extent};
  }
  return {};
}

/// Returns what becomes of an offset and of what lies beyond the axis, for a part whose operand is `range`.
NewExtents::Sampled change_of(const AxisAccess& access, const Places& at, const AxisRange& range) {
  const auto& [label, window] = at;
  const Dim stride = access.stride, in_window = access.dilation * (window.extent - 1);
  const bool is_affine = access.how == AxisAccess::How::affine;
  NewExtents::Sampled result{.is_changed = true};
  result.shift = access.dilation * window.first +
                 (is_affine ? stride * label.first - range.first : stride * range.first - label.first);
  const Dim span = range.extent == 0 ? 0 : stride * (range.extent - 1) + 1;
  const Dim along = is_affine ? stride * (label.extent - 1) + 1 - range.extent : span - label.extent;
  result.rest = along + in_window + access.offset + result.shift;
  return result;
}

/// Names labels by letters.
std::string letter(const AxisMap& map, int label) {
  const bool is_whole = map.labels[static_cast<std::size_t>(label)].kind == Label::Kind::whole;
  return std::string(1, static_cast<char>((is_whole ? 'A' : 'a') + label));
}

/// " + 3", " - 3" or nothing.
std::string added_text(Dim number) {
  return number == 0 ? "" : fmt::format(" {} {}", number < 0 ? '-' : '+', number < 0 ? -number : number);
}

/// "2 x" or "x".
std::string times(Dim factor, const std::string& what) {
  return factor == 1 ? what : fmt::format("{} {}", factor, what);
}

std::string text_of(const AxisMap& map, const AxisAccess& access) {
  using enum AxisAccess::How;
  if (access.how == whole) return "*";
  if (access.how == indexed) return "@";
  const std::string label = letter(map, access.label);
  if (access.how == same) return label;
  if (access.how == blocks) return times(access.stride, label) + fmt::format(" / {}", access.divisor);
  const std::string window = access.window >= 0    ? times(access.dilation, letter(map, access.window))
                             : access.n_window > 1 ? fmt::format("(0 ... {})", access.n_window - 1)
                                                   : "";
  if (access.how == affine)
    return times(access.stride, label) + (window.empty() ? "" : " + " + window) + added_text(access.offset);
  const std::string inner = label + (window.empty() ? "" : " - " + window) + added_text(-access.offset);
  return access.stride == 1 ? inner : fmt::format("({}) / {}", inner, access.stride);
}

AxisMap with_labels_of(const Shape& shape, Label::Kind kind) {
  AxisMap map;
  for (const Dim extent : shape) map.labels.push_back({kind, extent});
  map.outputs.push_back(IntList::counting(shape.rank()));
  return map;
}

/// The elements behind one place of the first of axes that a reshape makes of each other, in both shapes.
struct Group {
  Dim in, out;
};
/// Returns those of the group that starts at axis i of one and k of the other shape.
Group group_at(const Shape& in, int i, const Shape& out, int k) {
  Group behind{1, 1};
  const Dim of_in = in[i], of_out = out[k];
  while (of_in * behind.in != of_out * behind.out) {
    if (of_in * behind.in < of_out * behind.out) {
      behind.in *= in[++i];
    } else {
      behind.out *= out[++k];
    }
  }
  return behind;
}

}  // namespace

std::string_view name_of(OpClass op_class) {
  constexpr std::array<std::string_view, 10> names{"elementwise", "movement", "reduction", "product",
                                                   "window",      "scan",     "random",    "control",
                                                   "external",    "opaque"};
  return names[static_cast<std::size_t>(op_class)];
}

std::string_view name_of(Combine combine) {
  constexpr std::array<std::string_view, 3> names{"sum", "max", "min"};
  return names[static_cast<std::size_t>(combine)];
}

AxisAccess same_as(Dim label) { return {.how = AxisAccess::How::same, .label = static_cast<int>(label)}; }
AxisAccess affine_in(Dim label, Dim stride, Dim offset) {
  return {
      .how = AxisAccess::How::affine, .label = static_cast<int>(label), .stride = stride, .offset = offset};
}
AxisAccess inverse_in(Dim label, Dim stride, Dim offset) {
  AxisAccess access = affine_in(label, stride, offset);
  access.how = AxisAccess::How::inverse;
  return access;
}

void AxisMap::set(std::size_t input, Dim axis, AxisAccess access) {
  AxisAccess& its = inputs[input][static_cast<std::size_t>(axis)];
  access.extent = its.extent;
  its = access;
}

int AxisMap::add(Label::Kind kind, Dim extent) {
  labels.push_back({kind, extent});
  return static_cast<int>(labels.size()) - 1;
}

Dim AxisMap::axis_of(std::size_t input, int label) const {
  const std::vector<AxisAccess>& axes = inputs[input];
  const auto is_label = [&](const AxisAccess& axis) {
    return axis.how == AxisAccess::How::same && axis.label == label;
  };
  const auto at = std::ranges::find_if(axes, is_label);
  return at == axes.end() ? added : at - axes.begin();
}

bool AxisMap::depends_on(std::size_t input, int label) const {
  return std::ranges::any_of(inputs[input], [&](const AxisAccess& axis) { return axis.depends_on(label); });
}

IntList AxisMap::sources(std::size_t input) const {
  IntList result;
  for (const Dim label : outputs[0]) result.push_back(axis_of(input, static_cast<int>(label)));
  return result;
}

int AxisMap::shared_axis(const std::vector<bool>& marked) const {
  if (outputs.size() != 1) return -1;
  for (int axis = 0; axis < outputs[0].size(); ++axis) {
    const auto label = static_cast<int>(outputs[0][axis]);
    const Label& its = labels[static_cast<std::size_t>(label)];
    bool fits = its.kind == Label::Kind::free && its.grain == 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto n =
          std::ranges::count_if(inputs[i], [&](const AxisAccess& a) { return a.depends_on(label); });
      fits = fits && (marked[i] ? n == 1 && axis_of(i, label) != added : n == 0);
    }
    if (fits) return axis;
  }
  return -1;
}

std::vector<AxisRange> AxisMap::all() const {
  std::vector<AxisRange> result;
  for (const Label& label : labels) result.push_back({0, label.extent});
  return result;
}

std::string AxisMap::text() const {
  std::vector<std::string> operands, results;
  for (const std::vector<AxisAccess>& axes : inputs) {
    std::vector<std::string> parts;
    for (const AxisAccess& each : axes) parts.push_back(text_of(*this, each));
    operands.push_back(fmt::format("[{}]", fmt::join(parts, ", ")));
  }
  for (const IntList& axes : outputs) {
    std::vector<std::string> parts;
    for (const Dim label : axes) parts.push_back(letter(*this, static_cast<int>(label)));
    results.push_back(fmt::format("[{}]", fmt::join(parts, ", ")));
  }
  std::string reduced, grains;
  for (int i = 0; i < static_cast<int>(labels.size()); ++i) {
    const Label& label = labels[static_cast<std::size_t>(i)];
    if (label.kind == Label::Kind::reduced) reduced += (reduced.empty() ? "" : ", ") + letter(*this, i);
    if (label.grain > 1) grains += fmt::format("; {} by {}", letter(*this, i), label.grain);
  }
  return fmt::format("{} -> {}{}{}", fmt::join(operands, " "), fmt::join(results, " "),
                     reduced.empty() ? "" : fmt::format("; {} over {}", name_of(combine), reduced), grains);
}

std::vector<Box> operand_boxes(const AxisMap& map, std::span<const AxisRange> labels) {
  std::vector<Box> result;
  for (const std::vector<AxisAccess>& axes : map.inputs) {
    Box box;
    for (const AxisAccess& each : axes) {
      const AxisRange range = range_of(map, each, labels);
      box.first.push_back(range.first);
      box.shape.push_back(range.extent);
    }
    result.push_back(box);
  }
  return result;
}

Box result_box(const AxisMap& map, std::size_t output, std::span<const AxisRange> labels) {
  Box box;
  for (const Dim label : map.outputs[output]) {
    box.first.push_back(labels[static_cast<std::size_t>(label)].first);
    box.shape.push_back(labels[static_cast<std::size_t>(label)].extent);
  }
  return box;
}

AttrsPtr attrs_of_part(const AxisMap& map, const AttrsPtr& attrs, std::span<const AxisRange> labels) {
  if (!attrs || map.inputs.empty()) return attrs;
  NewExtents to;
  for (const Dim label : map.outputs[0])
    to.result.push_back(is_cut(map, label, labels) ? labels[static_cast<std::size_t>(label)].extent
                                                   : NewExtents::unchanged);
  for (std::size_t axis = 0; axis < map.inputs[0].size(); ++axis) {
    const AxisAccess& access = map.inputs[0][axis];
    if (!access.is_sampled() || !is_cut(map, access, labels)) continue;
    const Places at = places_of(access, labels);
    to.sampled[axis] = change_of(access, at, range_of(map, access, labels));
    to.sampled[axis].result = map.outputs[0].contains(access.label) ? at.label.extent : at.window.extent;
  }
  return attrs->fit(to);
}

AxisMap needing_all(const AxisArgs& args, Label::Kind kind) {
  AxisMap map = with_labels_of(args.out.shape, kind);
  for (const Aval& in : args.in) {
    map.inputs.emplace_back();
    for (const Dim extent : in.shape) map.inputs.back().push_back({.extent = extent});
  }
  return map;
}

AxisMap axis_by_axis(const AxisArgs& args, const Axes& whole) {
  AxisMap map = needing_all(args, Label::Kind::free);
  for (const Dim axis : whole) map.labels[static_cast<std::size_t>(axis)].kind = Label::Kind::whole;
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    for (std::size_t k = 0; k < std::min(map.inputs[i].size(), map.labels.size()); ++k) {
      const Label& label = map.labels[k];
      if (label.kind == Label::Kind::free || map.inputs[i][k].extent == label.extent)
        map.set(i, static_cast<Dim>(k), same_as(static_cast<Dim>(k)));
    }
  }
  return map;
}

AxisMap without_axes(const AxisArgs& args, const Axes& axes) {
  AxisMap map = needing_all(args, Label::Kind::free);
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    for (int axis = 0, label = 0; axis < std::ssize(map.inputs[i]); ++axis) {
      if (!axes.contains(axis)) map.set(i, axis, same_as(label++));
    }
  }
  return map;
}

AxisMap reduced_over(const AxisArgs& args, const Axes& axes, Combine how) {
  AxisMap map = without_axes(args, axes);
  map.combine = how;
  for (const Dim axis : axes) {
    const int label = map.add(Label::Kind::reduced, args.in[0].shape[static_cast<int>(axis)]);
    for (std::size_t i = 0; i < map.inputs.size(); ++i) map.set(i, axis, same_as(label));
  }
  return map;
}

AxisMap reshaped(const AxisArgs& args) {
  const Shape &in = args.in[0].shape, &out = args.out.shape;
  AxisMap map = needing_all(args, Label::Kind::whole);
  std::int64_t of_in = 1, of_out = 1;  // steps along the axes that were passed
  for (int i = 0, k = 0; k < out.rank(); of_out *= out[k++]) {
    while (i < in.rank() && (of_in < of_out || (of_in == of_out && in[i] == 1 && out[k] != 1)))
      of_in *= in[i++];
    Label& label = map.labels[static_cast<std::size_t>(k)];
    const bool is_at_group = of_in == of_out && i < in.rank();
    if (is_at_group && in[i] == out[k]) {
      label.kind = Label::Kind::free;
      map.set(0, i, same_as(k));
      of_in *= in[i++];
    } else if (is_at_group && out[k] != 1 && out.count() > 0) {
      const Group behind = group_at(in, i, out, k);
      const Dim grain = behind.in / std::gcd(behind.in, behind.out);
      if (grain >= out[k]) continue;
      label = {Label::Kind::free, out[k], grain};
      map.set(0, i, {.how = AxisAccess::How::blocks, .label = k, .stride = behind.out, .divisor = behind.in});
    }
  }
  return map;
}

AxisMap by_right_hand_side(const AxisArgs& args, int n_item_axes) {
  AxisMap map = needing_all(args, Label::Kind::whole);
  for (int axis = n_item_axes; axis + 1 < args.out.shape.rank(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    map.labels[at].kind = Label::Kind::free;
    map.set(args.in.size() - 1, axis, same_as(axis));
  }
  return map;
}

AxisMap all_whole(const AxisArgs& args) { return needing_all(args, Label::Kind::whole); }

}  // namespace lodestone::engine
