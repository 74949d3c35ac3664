// SPDX-License-Identifier: Apache-2.0
// Liberties of fast mode with real floats. u is half the distance from 1 to the next number; bounds hold
// where neither results nor reciprocals overflow or become subnormal. No rule drops a NaN or an infinity.
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

/// Returns the number that all places of a value show, if it is of f32 or f64.
std::optional<double> number_of(const Rewriter& program, ValueId id) {
  const auto bits = program.number(id);
  const DType dtype = program.aval(id).dtype;
  if (!bits || (dtype != DType::f32 && dtype != DType::f64)) return std::nullopt;
  if (dtype == DType::f64) {
    double number = 0.0;
    std::memcpy(&number, bits->data(), sizeof number);
    return number;
  }
  float number = 0.0F;
  std::memcpy(&number, bits->data(), sizeof number);
  return number;
}

/// Returns whether a number is neither subnormal, zero, infinite nor NaN in a dtype.
bool is_normal(double number, DType dtype) {
  return dtype == DType::f32 ? std::isnormal(static_cast<float>(number)) : std::isnormal(number);
}

/// Returns a value that shows a number in the places of the next result.
ValueId numbers(R program, N next, double number) {
  return program.add_number(next, Number(number).element(next.aval.dtype), next.aval);
}

ValueId product(R program, N next, ValueId a, ValueId b) {
  static const OpInfo& multiply = op_named("multiply");
  return program.add_instead(next, multiply, {}, {a, b});
}

Found divided_by_number(R program, N next) {
  const auto divisor = number_of(program, next.operands[1]);
  if (!divisor || !is_normal(*divisor, next.aval.dtype) || !is_normal(1.0 / *divisor, next.aval.dtype))
    return {};
  return product(program, next, next.operands[0], numbers(program, next, 1.0 / *divisor));
}

Found plus_zero(R program, N next) {
  for (const std::size_t i : {1, 0}) {
    if (number_of(program, next.operands[i]) == 0.0) return program.as_result(next, next.operands[1 - i]);
  }
  return {};
}

Found small_power(R program, N next) {
  static const OpInfo& square = op_named("square");
  const auto exponent = number_of(program, next.operands[1]);
  if (!exponent) return {};
  const ValueId x = next.operands[0];
  const auto squared = [&](ValueId of) { return program.add(next, square, {}, {of}, next.aval); };
  if (*exponent == 2.0) return squared(x);
  if (*exponent == 3.0) return product(program, next, squared(x), x);
  if (*exponent == 4.0) return squared(squared(x));
  return {};
}

/// Returns the operand of a product with a number, and that number.
struct Scaled {
  ValueId x;
  double by;
};
std::optional<Scaled> scaled(const Rewriter& program, N next) {
  for (const std::size_t i : {1, 0}) {
    if (const auto by = number_of(program, next.operands[i])) return Scaled{next.operands[1 - i], *by};
  }
  return {};
}

Found scaled_twice(R program, N next) {
  const auto outer = scaled(program, next);
  if (!outer) return {};
  const Instruction* inner = program.producer(outer->x, next.op);
  if (inner == nullptr) return {};
  for (const std::size_t i : {1, 0}) {
    const auto by = number_of(program, program.operand(*inner, i));
    if (!by || !is_normal(*by * outer->by, next.aval.dtype)) continue;
    if (std::abs(*by) > 1.0 && std::abs(outer->by) < 1.0) continue;  // an infinity on the way would be lost
    const ValueId x = program.operand(*inner, 1 - i);  // before numbers are added, which moves `inner`
    return product(program, next, x, numbers(program, next, *by * outer->by));
  }
  return {};
}

std::vector<RewriteRule> made() {
  const auto op = [](std::string_view name) { return std::vector<const OpInfo*>{&op_named(name)}; };
  return {{"x / c", divided_by_number, op("divide")},
          {"x + 0", plus_zero, op("add")},
          {"small power", small_power, op("power")},
          {"scaled twice", scaled_twice, op("multiply")}};
}

}  // namespace

std::span<const RewriteRule> fast_rules() {
  static const std::vector<RewriteRule> rules = made();
  return rules;
}

}  // namespace lodestone::engine
