// SPDX-License-Identifier: Apache-2.0
// Rules of ops that move elements. Two looks in a row are one look with the same strides, so that no kernel
// adds in another order. A reshape of what has gaps is a copy, and stays one.
#include "engine/compile/rewrite.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using Found = std::optional<ValueId>;
using R = Rewriter&;
using N = const NextInstruction&;

/// An instruction of the same op that gives what the next one takes.
template <class T>
struct Before {
  ValueId x;  ///< its operand
  T attrs;
};
template <class T>
std::optional<Before<T>> before(const Rewriter& program, N next) {
  const Instruction* from = program.producer(next.operands[0], next.op);
  if (from == nullptr) return {};
  return Before<T>{program.operand(*from, 0), attrs_as<T>(*from->attrs)};
}

/// Returns the result of the op on the operand of an operand.
template <class T>
ValueId merged(R program, N next, ValueId x, T attrs) {
  return program.add_instead(next, *next.op, make_attrs(std::move(attrs)), {x});
}

Found same_order(R, N next) {
  const Axes& order = attrs_as<TransposeAttrs>(*next.attrs).order;
  return order == IntList::counting(order.size()) ? Found(next.operands[0]) : Found();
}

Found two_transposes(R program, N next) {
  const auto first = before<TransposeAttrs>(program, next);
  if (!first) return {};
  Axes order;
  for (const Dim axis : attrs_as<TransposeAttrs>(*next.attrs).order)
    order.push_back(first->attrs.order[static_cast<int>(axis)]);
  return merged(program, next, first->x, TransposeAttrs{order});
}

bool is_same_shape(const Rewriter& program, N next) {
  return program.aval(next.operands[0]).shape == next.aval.shape;
}
Found same_shape(R program, N next) {
  const bool fits = is_same_shape(program, next) && program.is_dense(next.operands[0]);
  return fits ? Found(next.operands[0]) : Found();
}
Found no_repetition(R program, N next) {
  return is_same_shape(program, next) ? Found(next.operands[0]) : Found();
}

Found two_shapes(R program, N next) {
  const auto first = before<ShapeAttrs>(program, next);
  if (!first) return {};
  return merged(program, next, first->x, attrs_as<ShapeAttrs>(*next.attrs));
}

Found all_elements(R program, N next) {
  const auto& [first, count, step] = attrs_as<SliceAttrs>(*next.attrs);
  const bool fits = is_same_shape(program, next) && first == IntList::filled(first.size(), 0) &&
                    step == IntList::filled(step.size(), 1);
  return fits ? Found(next.operands[0]) : Found();
}

Found two_slices(R program, N next) {
  const auto inner = before<SliceAttrs>(program, next);
  if (!inner || next.aval.count() == 0) return {};
  SliceAttrs both = attrs_as<SliceAttrs>(*next.attrs);
  for (int axis = 0; axis < both.first.size(); ++axis) {
    both.first[axis] = inner->attrs.first[axis] + both.first[axis] * inner->attrs.step[axis];
    both.step[axis] *= inner->attrs.step[axis];
  }
  return merged(program, next, inner->x, both);
}

bool is_zero(const IntList& list) { return list == IntList::filled(list.size(), 0); }

/// Merges two pads where the second one takes away no more than the first one has added around.
Found two_pads(R program, N next) {
  const auto inner = before<PadAttrs>(program, next);
  if (!inner) return {};
  const auto& outer = attrs_as<PadAttrs>(*next.attrs);
  PadAttrs both = inner->attrs;
  for (int axis = 0; axis < both.low.size(); ++axis) {
    if (outer.low[axis] > 0 || outer.high[axis] > 0 || outer.inside[axis] != 0) return {};
    both.low[axis] += outer.low[axis];
    both.high[axis] += outer.high[axis];
    if (both.low[axis] < 0 || both.high[axis] < 0) return {};
  }
  return merged(program, next, inner->x, both);
}

Found no_pad(R program, N next) {
  const auto& attrs = attrs_as<PadAttrs>(*next.attrs);
  const bool fits = is_zero(attrs.low) && is_zero(attrs.high) && is_zero(attrs.inside);
  return fits ? program.as_result(next, next.operands[0]) : Found();
}

/// The slice sees what was padded, not the padding. It has gaps, which that has not.
Found slice_of_pad(R program, N next) {
  static const OpInfo& pad = op_named("pad");
  const Instruction* from = program.producer(next.operands[0], &pad);
  if (from == nullptr || !next.may_be_strided) return {};
  const auto& [first, count, step] = attrs_as<SliceAttrs>(*next.attrs);
  const auto& attrs = attrs_as<PadAttrs>(*from->attrs);
  const ValueId x = program.operand(*from, 0);
  bool fits = program.aval(x).shape == next.aval.shape;
  for (int axis = 0; fits && axis < first.size(); ++axis)
    fits = first[axis] == attrs.low[axis] && (count[axis] < 2 || step[axis] == attrs.inside[axis] + 1);
  return fits ? Found(x) : Found();
}

std::vector<RewriteRule> made() {
  const auto op = [](std::string_view name) { return std::vector<const OpInfo*>{&op_named(name)}; };
  return {{"same order", same_order, op("transpose")},
          {"two transposes", two_transposes, op("transpose")},
          {"same shape", same_shape, op("reshape")},
          {"two reshapes", two_shapes, op("reshape")},
          {"no repetition", no_repetition, op("broadcast_to")},
          {"two repetitions", two_shapes, op("broadcast_to")},
          {"all elements", all_elements, op("slice")},
          {"two slices", two_slices, op("slice")},
          {"no pad", no_pad, op("pad")},
          {"two pads", two_pads, op("pad")},
          {"slice of a pad", slice_of_pad, op("slice")}};
}

}  // namespace

std::span<const RewriteRule> movement_rules() {
  static const std::vector<RewriteRule> rules = made();
  return rules;
}

}  // namespace lodestone::engine
