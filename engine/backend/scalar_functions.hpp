// SPDX-License-Identifier: Apache-2.0
// One element of each elementwise op: what every backend on the processor loops over.
#pragma once

#include "engine/backend/scalar_helpers.hpp"
#include "engine/vmath/vmath.hpp"

#include <algorithm>
#include <string_view>

namespace lodestone::engine::scalar {

// Functions of one element, which keep what they return as text.
#define LODESTONE_FUNCTION(Name, ...)                      \
  struct Name {                                            \
    template <class T>                                     \
    [[gnu::always_inline]] auto operator()(T x) const {    \
      return __VA_ARGS__;                                  \
    }                                                      \
    static constexpr std::string_view text = #__VA_ARGS__; \
  }
#define LODESTONE_FUNCTION_2(Name, ...)                      \
  struct Name {                                              \
    template <class T>                                       \
    [[gnu::always_inline]] auto operator()(T a, T b) const { \
      return __VA_ARGS__;                                    \
    }                                                        \
    static constexpr std::string_view text = #__VA_ARGS__;   \
  }
LODESTONE_FUNCTION(Identity, x);
LODESTONE_FUNCTION(Negative, static_cast<T>(-x));
LODESTONE_FUNCTION(Reciprocal, T(1) / x);
LODESTONE_FUNCTION(Square, static_cast<T>(x* x));
LODESTONE_FUNCTION(Sqrt, std::sqrt(x));
LODESTONE_FUNCTION(Exp, vmath::exp(x));
LODESTONE_FUNCTION(Expm1, vmath::expm1(x));
LODESTONE_FUNCTION(Log, vmath::log(x));
LODESTONE_FUNCTION(Log1p, vmath::log1p(x));
LODESTONE_FUNCTION(Asin, vmath::asin(x));
LODESTONE_FUNCTION(Acos, vmath::acos(x));
LODESTONE_FUNCTION(Atan, vmath::atan(x));
LODESTONE_FUNCTION(Sinh, vmath::sinh(x));
LODESTONE_FUNCTION(Cosh, vmath::cosh(x));
LODESTONE_FUNCTION(Tanh, vmath::tanh(x));
LODESTONE_FUNCTION(Erf, vmath::erf(x));
LODESTONE_FUNCTION(Sigmoid, vmath::sigmoid(x));
LODESTONE_FUNCTION(Swish, x / (T(1) + vmath::exp(-x)));
LODESTONE_FUNCTION(Gelu, T(0.5) * x * (T(1) + vmath::erf(x * T(root_of_half))));
LODESTONE_FUNCTION(Sign, static_cast<T>((x > T(0)) - (x < T(0))));
LODESTONE_FUNCTION(Floor, std::floor(x));
LODESTONE_FUNCTION(Ceil, std::ceil(x));
LODESTONE_FUNCTION(Round, std::nearbyint(x));
LODESTONE_FUNCTION(Abs, modulus(x));
LODESTONE_FUNCTION(IsFinite, is_finite(x));
LODESTONE_FUNCTION(LogicalNot, !x);
LODESTONE_FUNCTION(Real, x.real());
LODESTONE_FUNCTION(Imag, x.imag());
LODESTONE_FUNCTION(Conj, std::conj(x));
LODESTONE_FUNCTION_2(Add, static_cast<T>(a + b));
LODESTONE_FUNCTION_2(Subtract, static_cast<T>(a - b));
LODESTONE_FUNCTION_2(Multiply, product(a, b));
LODESTONE_FUNCTION_2(Divide, a / b);
LODESTONE_FUNCTION_2(Remainder, remainder(a, b));
LODESTONE_FUNCTION_2(ShiftLeft, shift_left(a, b));
LODESTONE_FUNCTION_2(ShiftRight, shift_right(a, b));
LODESTONE_FUNCTION_2(Power, vmath::pow(a, b));
LODESTONE_FUNCTION_2(Atan2, vmath::atan2(a, b));
LODESTONE_FUNCTION_2(SwishSlope, swish_slope(a, T(1) / (T(1) + vmath::exp(-a)), b));
LODESTONE_FUNCTION_2(GeluSlope,
                     gelu_slope(a, T(1) + vmath::erf(a * T(root_of_half)), vmath::exp(T(-0.5) * a * a), b));
LODESTONE_FUNCTION_2(Maximum, a != a ? a : a < b || b != b ? b : a);
LODESTONE_FUNCTION_2(Minimum, a != a ? a : b < a || b != b ? b : a);
LODESTONE_FUNCTION_2(Less, a < b);
LODESTONE_FUNCTION_2(LessEqual, a <= b);
LODESTONE_FUNCTION_2(Greater, a > b);
LODESTONE_FUNCTION_2(GreaterEqual, a >= b);
LODESTONE_FUNCTION_2(Equal, a == b);
LODESTONE_FUNCTION_2(NotEqual, a != b);
LODESTONE_FUNCTION_2(LogicalAnd, a&& b);
LODESTONE_FUNCTION_2(LogicalOr, a || b);
LODESTONE_FUNCTION_2(BitwiseAnd, static_cast<T>(a& b));
LODESTONE_FUNCTION_2(BitwiseOr, static_cast<T>(a | b));
LODESTONE_FUNCTION_2(BitwiseXor, static_cast<T>(a ^ b));
LODESTONE_FUNCTION_2(Complex, std::complex<T>(a, b));
#undef LODESTONE_FUNCTION
#undef LODESTONE_FUNCTION_2

/// Functions of an angle: `usual` is the same where `is_usual`, and vectorizes.
#define LODESTONE_ANGLE_FUNCTION(Name, function)                                    \
  struct Name {                                                                     \
    template <class T>                                                              \
    [[gnu::always_inline]] auto operator()(T x) const {                             \
      return vmath::function(x);                                                    \
    }                                                                               \
    template <class T>                                                              \
    [[gnu::always_inline]] static bool is_usual(T x) {                              \
      return vmath::is_usual_angle(x);                                              \
    }                                                                               \
    template <class T>                                                              \
    [[gnu::always_inline]] static T usual(T x) {                                    \
      return vmath::usual_##function(x);                                            \
    }                                                                               \
    static constexpr std::string_view text = "vmath::" #function "(x)";             \
    static constexpr std::string_view usual_text = "vmath::usual_" #function "(x)", \
                                      usual_condition = "vmath::is_usual_angle(x)"; \
  }
LODESTONE_ANGLE_FUNCTION(Sin, sin);
LODESTONE_ANGLE_FUNCTION(Cos, cos);
LODESTONE_ANGLE_FUNCTION(Tan, tan);
#undef LODESTONE_ANGLE_FUNCTION

/// The type the reference computes in: one step more precise, in the standard library's functions.
template <class T>
struct Wider {
  using type = T;
};
template <>
struct Wider<float> {
  using type = double;
};
template <>
struct Wider<double> {
  using type = long double;
};
template <class T>
struct Wider<std::complex<T>> {
  using type = std::complex<typename Wider<T>::type>;
};

template <class Function, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<Function, Others> || ...);
/// Functions that vectorize: those of some twenty operations per element, and those of a few.
template <class Function>
inline constexpr bool is_elementary = is_one_of<Function, Expm1, Log, Log1p, Sin, Cos, Tan, Asin, Acos, Atan,
                                                Atan2, Sinh, Cosh, Tanh, Erf, Gelu, GeluSlope, Power>;
template <class Function>
inline constexpr bool is_arithmetic =
    is_elementary<Function> ||
    is_one_of<Function, Identity, Negative, Reciprocal, Square, Sqrt, Exp, Sigmoid, Swish, SwishSlope, Abs,
              Add, Subtract, Multiply, Divide, Maximum, Minimum>;
/// True for functions that vectorize only where `is_usual`.
template <class Function, class T>
inline constexpr bool has_usual = std::is_floating_point_v<T>&& is_one_of<Function, Sin, Cos, Tan>;

template <class To>
struct Cast {
  static constexpr std::string_view text = "converted<To>(x)";
  template <class From>
  [[gnu::always_inline]] To operator()(From x) const {
    return converted<To>(x);
  }
};

}  // namespace lodestone::engine::scalar
