// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/axis_map.hpp"

#include <fmt/ranges.h>

#include <array>

namespace lodestone::engine {
namespace {

std::string text_of(Dim source) {
  return source == AxisMap::added ? "new" : source == AxisMap::whole ? "whole" : fmt::format("{}", source);
}

std::string text_of(const IntList& sources) {
  std::vector<std::string> parts;
  for (const Dim source : sources) parts.push_back(text_of(source));
  return fmt::format("{}", fmt::join(parts, ", "));
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

int AxisMap::axis_of(const std::vector<bool>& marked) const {
  const int rank = inputs.empty() ? 0 : inputs[0].from.size();
  for (int axis = 0; axis < rank; ++axis) {
    bool fits = true;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      fits = fits && (marked[i] ? inputs[i].from[axis] >= 0 : inputs[i].from[axis] == added);
    if (fits) return axis;
  }
  return -1;
}

std::string AxisMap::text() const {
  std::vector<std::string> parts;
  for (const Input& input : inputs) {
    parts.push_back(text_of(input.from));
    if (!input.reduced.empty())
      parts.back() += fmt::format("{}{} over {}", input.from.empty() ? "" : "; ", name_of(combine),
                                  text_of(input.reduced));
  }
  return fmt::format("{}", fmt::join(parts, " | "));
}

AxisMap axis_by_axis(const AxisArgs& args, const Axes& whole) {
  IntList from = IntList::counting(args.out.shape.rank());
  for (const Dim axis : whole) from[static_cast<int>(axis)] = AxisMap::whole;
  return {std::vector<AxisMap::Input>(args.in.size(), {from, {}})};
}

AxisMap without_axes(const AxisArgs& args, const Axes& axes) {
  AxisMap::Input each;
  for (Dim axis = 0; axis < args.in[0].shape.rank(); ++axis) {
    if (!axes.contains(axis)) each.from.push_back(axis);
  }
  return {std::vector<AxisMap::Input>(args.in.size(), each)};
}

AxisMap reduced_over(const AxisArgs& args, const Axes& axes, Combine how) {
  AxisMap map = without_axes(args, axes);
  for (AxisMap::Input& input : map.inputs) input.reduced = axes;
  map.combine = how;
  return map;
}

AxisMap all_whole(const AxisArgs& args) {
  return {std::vector<AxisMap::Input>(args.in.size(),
                                      {IntList::filled(args.out.shape.rank(), AxisMap::whole), {}})};
}

}  // namespace lodestone::engine
