// SPDX-License-Identifier: Apache-2.0
// The pairs (op, function of one element), and the dtypes each is compiled for. A backend gives the loop.
#pragma once

#include "engine/backend/scalar_functions.hpp"
#include "engine/core/half.hpp"

#include <string_view>

namespace lodestone::engine {

/// Calls `visitor.unary<Function, T…>(name)` or `visitor.binary<…>(name)` for each elementwise op.
template <class Visitor>
void for_each_elementwise(Visitor&& each) {
  using namespace scalar;
  using bf16 = core::BFloat16;
  using f16 = core::Float16;
  using f32 = float;
  using f64 = double;
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  using i8 = std::int8_t;
  using u8 = std::uint8_t;
  using i32 = std::int32_t;
  using u32 = std::uint32_t;
  using i64 = std::int64_t;
  using u64 = std::uint64_t;
#define LODESTONE_INTEGERS i8, u8, i32, u32, i64, u64
  each.template unary<Identity, f32, f64, c64, c128, bool, bf16, f16, LODESTONE_INTEGERS>("copy");
  each.template unary<Identity, f32, f64, c64, c128, bool, bf16, f16, LODESTONE_INTEGERS>("transfer");
  each.template unary<Negative, f32, f64, c64, c128, LODESTONE_INTEGERS>("negative");
  each.template unary<Square, f32, f64, c64, c128, LODESTONE_INTEGERS>("square");
  each.template unary<Reciprocal, f32, f64, c64, c128>("reciprocal");
  each.template unary<Sqrt, f32, f64, c64, c128>("sqrt");
  each.template unary<Exp, f32, f64, c64, c128>("exp");
  each.template unary<Log, f32, f64, c64, c128>("log");
  each.template unary<Sin, f32, f64, c64, c128>("sin");
  each.template unary<Cos, f32, f64, c64, c128>("cos");
  each.template unary<Sinh, f32, f64, c64, c128>("sinh");
  each.template unary<Cosh, f32, f64, c64, c128>("cosh");
  each.template unary<Tanh, f32, f64, c64, c128>("tanh");
  each.template unary<Expm1, f32, f64>("expm1");
  each.template unary<Log1p, f32, f64>("log1p");
  each.template unary<Tan, f32, f64>("tan");
  each.template unary<Asin, f32, f64>("asin");
  each.template unary<Acos, f32, f64>("acos");
  each.template unary<Atan, f32, f64>("atan");
  each.template unary<Erf, f32, f64>("erf");
  each.template unary<Sigmoid, f32, f64>("sigmoid");
  each.template unary<Swish, f32, f64>("swish");
  each.template unary<Gelu, f32, f64>("gelu");
  each.template unary<Floor, f32, f64>("floor");
  each.template unary<Ceil, f32, f64>("ceil");
  each.template unary<Round, f32, f64>("round");
  each.template unary<Sign, f32, f64, LODESTONE_INTEGERS>("sign");
  each.template unary<Abs, f32, f64, c64, c128, i8, i32, i64>("abs");
  each.template unary<IsFinite, f32, f64, c64, c128>("is_finite");
  each.template unary<LogicalNot, bool>("logical_not");
  each.template unary<Real, c64, c128>("real");
  each.template unary<Imag, c64, c128>("imag");
  each.template unary<Conj, c64, c128>("conj");
  each.template binary<Add, f32, f64, c64, c128, LODESTONE_INTEGERS>("add");
  each.template binary<Subtract, f32, f64, c64, c128, LODESTONE_INTEGERS>("subtract");
  each.template binary<Multiply, f32, f64, c64, c128, LODESTONE_INTEGERS>("multiply");
  each.template binary<Divide, f32, f64, c64, c128>("divide");
  each.template binary<SwishSlope, f32, f64>("swish_slope");
  each.template binary<GeluSlope, f32, f64>("gelu_slope");
  each.template binary<Power, f32, f64>("power");
  each.template binary<Atan2, f32, f64>("atan2");
  each.template binary<Maximum, f32, f64, LODESTONE_INTEGERS>("maximum");
  each.template binary<Minimum, f32, f64, LODESTONE_INTEGERS>("minimum");
  each.template binary<Less, f32, f64, LODESTONE_INTEGERS>("less");
  each.template binary<LessEqual, f32, f64, LODESTONE_INTEGERS>("less_equal");
  each.template binary<Greater, f32, f64, LODESTONE_INTEGERS>("greater");
  each.template binary<GreaterEqual, f32, f64, LODESTONE_INTEGERS>("greater_equal");
  each.template binary<Equal, f32, f64, c64, c128, bool, LODESTONE_INTEGERS>("equal");
  each.template binary<NotEqual, f32, f64, c64, c128, bool, LODESTONE_INTEGERS>("not_equal");
  each.template binary<LogicalAnd, bool>("logical_and");
  each.template binary<LogicalOr, bool>("logical_or");
  each.template binary<Remainder, LODESTONE_INTEGERS>("remainder");
  each.template binary<BitwiseAnd, LODESTONE_INTEGERS>("bitwise_and");
  each.template binary<BitwiseOr, LODESTONE_INTEGERS>("bitwise_or");
  each.template binary<BitwiseXor, LODESTONE_INTEGERS>("bitwise_xor");
  each.template binary<ShiftLeft, LODESTONE_INTEGERS>("shift_left");
  each.template binary<ShiftRight, LODESTONE_INTEGERS>("shift_right");
  each.template binary<Complex, f32, f64>("complex");
#undef LODESTONE_INTEGERS
}

}  // namespace lodestone::engine
