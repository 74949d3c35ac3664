// SPDX-License-Identifier: Apache-2.0
// One element of the ops that take more than an expression. Generated kernels contain the text of this file:
// it uses names of the standard library that engine/generate/prelude.inc has.
#pragma once

#include "engine/core/half.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>

namespace lodestone::engine::scalar {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

/// Slope of x s, s = sigmoid x, times t.
template <class T>
[[gnu::always_inline]] inline T swish_slope(T x, T s, T t) {
  return t * (s * (T(1) + x * (T(1) - s)));
}

inline constexpr double root_of_half = 0.70710678118654752440;
/// Slope of x n / 2, n = 1 + erf(x / √2), times t; e = e^(−x² / 2).
template <class T>
[[gnu::always_inline]] inline T gelu_slope(T x, T n, T e, T t) {
  constexpr double density_at_0 = 0.39894228040143267794;  // of the normal distribution
  return t * (T(0.5) * n + x * (T(density_at_0) * e));
}

/// The remainder of integers, with the sign of the divisor; 0 for a zero divisor.
template <class T>
[[gnu::always_inline]] inline T remainder(T a, T b) {
  if (b == T(0) || b == static_cast<T>(-1))
    return b == T(0) || std::is_signed_v<T> ? T(0) : static_cast<T>(a % b);
  const T rest = static_cast<T>(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}

template <class T>
[[gnu::always_inline]] inline T shift_left(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<Bits>(b) < 8 * sizeof(T) ? static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) << b))
                                              : T(0);
}
template <class T>
[[gnu::always_inline]] inline T shift_right(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<Bits>(b) < 8 * sizeof(T) ? static_cast<T>(a >> b) : a < 0 ? static_cast<T>(-1) : T(0);
}

/// Returns a b; of complex numbers without the C standard's repair of infinities, which costs a branch per
/// element.
template <class T>
[[gnu::always_inline]] inline T product(T a, T b) {
  if constexpr (is_complex_v<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return static_cast<T>(a * b);
  }
}

template <class T>
[[gnu::always_inline]] inline auto modulus(T x) {
  if constexpr (is_complex_v<T>) {
    return std::abs(x);
  } else {
    return static_cast<T>(std::abs(x));  // the standard's abs of a short integer is an int
  }
}

template <class T>
inline bool is_finite(T x) {
  if constexpr (is_complex_v<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}

/// Conversion as `cast` does it.
template <class To, class From>
[[gnu::always_inline]] inline To converted(From x) {
  if constexpr (is_complex_v<To> && !is_complex_v<From>) {
    return To(converted<typename To::value_type>(x), 0);
  } else if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    return static_cast<To>(x.real());  // never reached: the shape rule refuses it
  } else if constexpr (core::is_half_v<From>) {
    return static_cast<To>(static_cast<double>(x));
  } else {
#ifdef __CUDACC_RTC__  // numbers out of range become the lowest, as on the processor, not the nearest
    using Limits = std::numeric_limits<To>;
    if constexpr (std::numeric_limits<From>::has_infinity && std::is_signed_v<To> && !Limits::has_infinity &&
                  sizeof(To) >= 4) {
      if (!(x >= From(Limits::lowest()) && x < -From(Limits::lowest()))) return Limits::lowest();
    }
#endif
    return static_cast<To>(x);
  }
}

}  // namespace lodestone::engine::scalar
