// SPDX-License-Identifier: Apache-2.0
// Elementary functions that loops can be vectorised over, with the same bits on every instruction set: only additions, multiplications, explicit fused
// multiply-adds and integer operations. Real f32 and f64; wider types and complex numbers take the standard library's.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>

namespace lodestone::engine::vmath {
namespace detail {

/// What the reduction x = n ln 2 + r of a type needs.
template <class T>
struct Exponent;

template <>
struct Exponent<float> {
  using Bits = std::int32_t;
  static constexpr float lowest = -104.0F, highest = 89.0F;  // e^x is 0 below, infinite above
  static constexpr float log2_e = 1.44269504088896341F;
  static constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440054690583e-4F;  // n ln2_high is exact for |n| < 2^14
  static constexpr float shift = 0x1.8p23F;  // adding it rounds to an integer, which stands in the low bits
  static constexpr int mantissa_bits = 23, bias = 127;
};

template <>
struct Exponent<double> {
  using Bits = std::int64_t;
  static constexpr double lowest = -746.0, highest = 710.0;
  static constexpr double log2_e = 1.4426950408889634074;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double shift = 0x1.8p52;
  static constexpr int mantissa_bits = 52, bias = 1023;
};

/// Taylor series of e^r: |r| <= ln 2 / 2, so the first term left out is below a quarter of an ulp.
[[gnu::always_inline]] inline float exp_reduced(float r) {
  float p = 1.0F / 5040.0F;
  p = std::fma(p, r, 1.0F / 720.0F);
  p = std::fma(p, r, 1.0F / 120.0F);
  p = std::fma(p, r, 1.0F / 24.0F);
  p = std::fma(p, r, 1.0F / 6.0F);
  p = std::fma(p, r, 0.5F);
  p = std::fma(p, r, 1.0F);
  return std::fma(p, r, 1.0F);
}

[[gnu::always_inline]] inline double exp_reduced(double r) {
  double p = 1.0 / 6227020800.0;
  p = std::fma(p, r, 1.0 / 479001600.0);
  p = std::fma(p, r, 1.0 / 39916800.0);
  p = std::fma(p, r, 1.0 / 3628800.0);
  p = std::fma(p, r, 1.0 / 362880.0);
  p = std::fma(p, r, 1.0 / 40320.0);
  p = std::fma(p, r, 1.0 / 5040.0);
  p = std::fma(p, r, 1.0 / 720.0);
  p = std::fma(p, r, 1.0 / 120.0);
  p = std::fma(p, r, 1.0 / 24.0);
  p = std::fma(p, r, 1.0 / 6.0);
  p = std::fma(p, r, 0.5);
  p = std::fma(p, r, 1.0);
  return std::fma(p, r, 1.0);
}

template <class T>
[[gnu::always_inline]] inline T exp_of(T x) {
  using E = Exponent<T>;
  using Bits = typename E::Bits;
  x = x < E::lowest ? E::lowest : x;  // a NaN passes both comparisons
  x = x > E::highest ? E::highest : x;
  const T shifted = std::fma(x, E::log2_e, E::shift);
  const T n = shifted - E::shift;
  const T r = std::fma(-n, E::ln2_low, std::fma(-n, E::ln2_high, x));
  // 2^n in two factors, so that neither leaves the range of exponents where the product does not.
  const Bits whole = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(E::shift);
  const Bits half = whole >> 1;
  const T first = std::bit_cast<T>(static_cast<Bits>((half + E::bias) << E::mantissa_bits));
  const T second = std::bit_cast<T>(static_cast<Bits>((whole - half + E::bias) << E::mantissa_bits));
  return exp_reduced(r) * first * second;
}

}  // namespace detail

[[gnu::always_inline]] inline float exp(float x) { return detail::exp_of(x); }
[[gnu::always_inline]] inline double exp(double x) { return detail::exp_of(x); }
template <class T>
[[gnu::always_inline]] inline T exp(T x) {
  using std::exp;  // by argument, for complex numbers
  return exp(x);
}

}  // namespace lodestone::engine::vmath
