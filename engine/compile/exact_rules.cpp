// SPDX-License-Identifier: Apache-2.0
// Rules that keep every bit. x - 0 is x for every x, x + 0 is not: -0 + 0 is 0.
#include "engine/compile/rewrite.hpp"
#include "engine/graph/number.hpp"
#include "engine/graph/op_table.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using Found = std::optional<ValueId>;
using V = const RewriteView&;
using I = const Instruction&;

bool is_number(V view, ValueId id, const Number& number) {
  return view.number(id) == number.element(view.aval(id).dtype);
}
/// Returns a value in whose place it may be used, if no kernel sees other strides.
Found if_dense(V view, ValueId id) { return view.is_dense(id) ? Found(id) : Found(); }
bool is_complex_op(V view, I each) { return core::is_complex(view.aval(each.first_result).dtype); }

Found given(V view, I each) { return view.operand(each, 0); }

Found times_one(V view, I each) {
  if (is_complex_op(view, each)) return {};  // infinities times 0 i are NaN
  for (const std::size_t i : {0, 1}) {
    if (is_number(view, view.operand(each, i), 1)) return if_dense(view, view.operand(each, 1 - i));
  }
  return {};
}

Found divided_by_one(V view, I each) {
  const bool fits = !is_complex_op(view, each) && is_number(view, view.operand(each, 1), 1);
  return fits ? if_dense(view, view.operand(each, 0)) : Found();
}

Found less_zero(V view, I each) {
  const bool fits = !is_complex_op(view, each) && is_number(view, view.operand(each, 1), 0);
  return fits ? if_dense(view, view.operand(each, 0)) : Found();
}

Found plus_minus_zero(V view, I each) {
  if (!core::is_real_float(view.aval(each.first_result).dtype)) return {};
  for (const std::size_t i : {0, 1}) {
    if (is_number(view, view.operand(each, i), -0.0)) return if_dense(view, view.operand(each, 1 - i));
  }
  return {};
}

Found twice_negative(V view, I each) {
  const Instruction* inner = view.producer(view.operand(each, 0));
  return inner != nullptr && inner->op == each.op ? if_dense(view, view.operand(*inner, 0)) : Found();
}

Found larger_of_equals(V view, I each) {
  const ValueId a = view.operand(each, 0);
  return a == view.operand(each, 1) ? if_dense(view, a) : Found();
}

Found equal_choices(V view, I each) {
  const ValueId a = view.operand(each, 1);
  return a == view.operand(each, 2) ? if_dense(view, a) : Found();
}

/// Returns true if a cast keeps every number of a dtype.
bool keeps_all(DType from, DType to) {
  const auto is_one_of = [](DType dtype, std::initializer_list<DType> list) {
    return std::ranges::find(list, dtype) != list.end();
  };
  switch (from) {
    case DType::bf16:
    case DType::f16:
      return is_one_of(to, {DType::f32, DType::f64});
    case DType::f32:
      return to == DType::f64;
    case DType::c64:
      return to == DType::c128;
    case DType::i32:
      return is_one_of(to, {DType::i64, DType::f64});
    case DType::u32:
      return is_one_of(to, {DType::i64, DType::u64, DType::f64});
    default:
      return false;
  }
}

Found cast_and_back(V view, I each) {
  const Instruction* inner = view.producer(view.operand(each, 0));
  if (inner == nullptr || inner->op != each.op) return {};
  const ValueId x = view.operand(*inner, 0);
  const DType from = view.aval(x).dtype, over = view.aval(inner->first_result).dtype;
  const bool fits = view.aval(each.first_result).dtype == from && keeps_all(from, over);
  return fits ? if_dense(view, x) : Found();
}

std::vector<ExactRule> made() {
  const auto ops = [](std::initializer_list<std::string_view> names) {
    std::vector<const OpInfo*> result;
    for (const std::string_view name : names) result.push_back(&op_named(name));
    return result;
  };
  return {{"identity", given, ops({"identity", "stop_gradient"})},
          {"x 1", times_one, ops({"multiply"})},
          {"x / 1", divided_by_one, ops({"divide"})},
          {"x - 0", less_zero, ops({"subtract"})},
          {"x + -0", plus_minus_zero, ops({"add"})},
          {"-(-x)", twice_negative, ops({"negative"})},
          {"larger of equals", larger_of_equals, ops({"maximum", "minimum"})},
          {"equal choices", equal_choices, ops({"select"})},
          {"cast and back", cast_and_back, ops({"cast"})}};
}

}  // namespace

std::span<const ExactRule> exact_rules() {
  static const std::vector<ExactRule> rules = made();
  return rules;
}

}  // namespace lodestone::engine
