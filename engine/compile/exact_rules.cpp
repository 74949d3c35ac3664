// SPDX-License-Identifier: Apache-2.0
// Rules that keep every bit. x - 0 is x for every x, x + 0 is not: -0 + 0 is 0. There is none for 2 x: x + x
// takes as long.
#include "engine/compile/rewrite.hpp"
#include "engine/graph/number.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lodestone::engine {
namespace {

using Found = std::optional<ValueId>;
using R = Rewriter&;
using N = const NextInstruction&;

bool is_number(const Rewriter& program, ValueId id, const Number& number) {
  return program.number(id) == number.element(program.aval(id).dtype);
}
bool is_complex_op(N next) { return core::is_complex(next.aval.dtype); }

Found given(R, N next) { return next.operands[0]; }

Found times_one(R program, N next) {
  if (is_complex_op(next)) return {};  // infinities times 0 i are NaN
  for (const std::size_t i : {0, 1}) {
    if (is_number(program, next.operands[i], 1)) return program.as_result(next, next.operands[1 - i]);
  }
  return {};
}

Found divided_by_one(R program, N next) {
  const bool fits = !is_complex_op(next) && is_number(program, next.operands[1], 1);
  return fits ? program.as_result(next, next.operands[0]) : Found();
}

Found less_zero(R program, N next) {
  const bool fits = !is_complex_op(next) && is_number(program, next.operands[1], 0);
  return fits ? program.as_result(next, next.operands[0]) : Found();
}

Found plus_minus_zero(R program, N next) {
  if (!core::is_real_float(next.aval.dtype)) return {};
  for (const std::size_t i : {0, 1}) {
    if (is_number(program, next.operands[i], -0.0)) return program.as_result(next, next.operands[1 - i]);
  }
  return {};
}

Found twice_negative(R program, N next) {
  const Instruction* inner = program.producer(next.operands[0], next.op);
  return inner != nullptr ? program.as_result(next, program.operand(*inner, 0)) : Found();
}

Found larger_of_equals(R program, N next) {
  const ValueId a = next.operands[0];
  return a == next.operands[1] ? program.as_result(next, a) : Found();
}

Found equal_choices(R program, N next) {
  const ValueId a = next.operands[1];
  return a == next.operands[2] ? program.as_result(next, a) : Found();
}

Found known_choice(R program, N next) {
  const auto condition = program.number(next.operands[0]);
  if (!condition) return {};
  return program.as_result(next, next.operands[(*condition)[0] != std::byte{0} ? 1 : 2]);
}

/// Returns x where a value is -x, of floats: of integers, the smallest has no counterpart.
Found counterpart(const Rewriter& program, ValueId id) {
  static const OpInfo& negative = op_named("negative");
  const Instruction* from = program.producer(id, &negative);
  return from != nullptr && core::is_float(program.aval(id).dtype) ? Found(program.operand(*from, 0))
                                                                   : Found();
}

Found plus_negative(R program, N next) {
  static const OpInfo& subtract = op_named("subtract");
  for (const std::size_t i : {1, 0}) {
    if (const Found x = counterpart(program, next.operands[i]))
      return program.add_instead(next, subtract, {}, {next.operands[1 - i], *x});
  }
  return {};
}

Found less_negative(R program, N next) {
  static const OpInfo& add = op_named("add");
  const Found x = counterpart(program, next.operands[1]);
  return x ? Found(program.add_instead(next, add, {}, {next.operands[0], *x})) : Found();
}

Found times_minus_one(R program, N next) {
  static const OpInfo &negative = op_named("negative"), &multiply = op_named("multiply");
  if (!core::is_real_float(next.aval.dtype)) return {};
  for (const std::size_t i : {1, 0}) {
    const bool fits = is_number(program, next.operands[i], -1) && (i == 1 || next.op == &multiply);
    if (fits) return program.add_instead(next, negative, {}, {next.operands[1 - i]});
  }
  return {};
}

/// Returns 1 / x for the bits of a power of 2 whose reciprocal is a normal number.
template <class T>
std::optional<double> reciprocal_of_power(const std::array<std::byte, 16>& bits) {
  T number;
  std::memcpy(&number, bits.data(), sizeof number);
  int exponent = 0;
  const bool is_power = std::abs(std::frexp(number, &exponent)) == T(0.5);
  return is_power && std::isnormal(T(1) / number) ? std::optional(double(T(1) / number)) : std::nullopt;
}

/// x / 2^k and x 2^-k are roundings of one number.
Found divided_by_power(R program, N next) {
  static const OpInfo& multiply = op_named("multiply");
  const auto bits = program.number(next.operands[1]);
  const DType dtype = next.aval.dtype;
  if (!bits || (dtype != DType::f32 && dtype != DType::f64)) return {};
  const auto factor =
      dtype == DType::f32 ? reciprocal_of_power<float>(*bits) : reciprocal_of_power<double>(*bits);
  if (!factor) return {};
  const ValueId by = program.add_number(next, Number(*factor).element(dtype), next.aval);
  return program.add_instead(next, multiply, {}, {next.operands[0], by});
}

/// Returns the value of one element that another one repeats, or none.
Found repeated(const Rewriter& program, ValueId id) {
  static const OpInfo& broadcast = op_named("broadcast_to");
  const Instruction* from = program.producer(id, &broadcast);
  if (from == nullptr || program.number(id)) return {};
  const ValueId one = program.operand(*from, 0);
  return program.aval(one).count() == 1 ? Found(one) : Found();
}

/// Returns a value of one element without axes, for an operand that shows no other.
ValueId without_axes(R program, N next, ValueId id) {
  static const OpInfo& reshape = op_named("reshape");
  const Aval one{{}, program.aval(id).dtype, program.aval(id).device};
  const Found from = repeated(program, id);
  if (!from) return program.add_number(next, *program.number(id), one);
  if (program.aval(*from).shape.rank() == 0) return *from;
  return program.add(next, reshape, make_attrs(ShapeAttrs{one.shape}), {*from}, one);
}

/// Computes an element once and repeats it, not the other way around. A launch more pays from some size on.
Found before_repetition(R program, N next) {
  static const OpInfo& broadcast = op_named("broadcast_to");
  constexpr std::int64_t least = 4096;
  const auto is_one = [&](ValueId id) { return repeated(program, id) || program.number(id); };
  const auto is_repeated = [&](ValueId id) { return repeated(program, id).has_value(); };
  const bool fits = next.may_be_strided && next.aval.count() >= least &&
                    std::ranges::all_of(next.operands, is_one) &&
                    std::ranges::any_of(next.operands, is_repeated);
  if (!fits) return {};
  std::vector<ValueId> operands;
  for (const ValueId id : next.operands) operands.push_back(without_axes(program, next, id));
  const Aval one{{}, next.aval.dtype, next.aval.device};
  const ValueId element = program.add(next, *next.op, next.attrs, operands, one);
  return program.add_instead(next, broadcast, make_attrs(ShapeAttrs{next.aval.shape}), {element});
}

/// Returns the ops each of whose elements comes from those at its place.
std::vector<const OpInfo*> elementwise_ops() {
  std::vector<const OpInfo*> result;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.is_axis_by_axis() && row.view == nullptr && !row.run) result.push_back(&row);
  }
  return result;
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

Found cast_and_back(R program, N next) {
  const Instruction* inner = program.producer(next.operands[0], next.op);
  if (inner == nullptr) return {};
  const ValueId x = program.operand(*inner, 0);
  const DType from = program.aval(x).dtype, over = program.aval(inner->first_result).dtype;
  const bool fits = next.aval.dtype == from && keeps_all(from, over);
  return fits ? program.as_result(next, x) : Found();
}

std::vector<RewriteRule> made() {
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
          {"known choice", known_choice, ops({"select"})},
          {"cast and back", cast_and_back, ops({"cast"})},
          {"a + -b", plus_negative, ops({"add"})},
          {"a - -b", less_negative, ops({"subtract"})},
          {"x -1", times_minus_one, ops({"multiply", "divide"})},
          {"x / 2^k", divided_by_power, ops({"divide"})},
          {"before repetition", before_repetition, elementwise_ops()}};
}

}  // namespace

std::span<const RewriteRule> exact_rules() {
  static const std::vector<RewriteRule> rules = made();
  return rules;
}

}  // namespace lodestone::engine
