// SPDX-License-Identifier: Apache-2.0
// exp, expm1 and functions of them: sigmoid, sinh, cosh, tanh, erf. See vmath.hpp.
#pragma once

#include "engine/vmath/polynomial.hpp"

namespace lodestone::engine::vmath {
namespace detail {

/// The constants of the reduction x = n ln 2 + r for a type.
template <class T>
struct Exponent;

template <>
struct Exponent<float> {
  using Bits = std::int32_t;
  static constexpr float lowest = -104.0F, highest = 89.0F;  // e^x is 0 below, infinite above
  static constexpr float log2_e = 1.44269504088896341F;
  static constexpr float ln2_high = 0.693359375F,
                         ln2_low = -2.12194440054690583e-4F;  // n ln2_high is exact for |n| < 2^14
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
inline constexpr auto inverse_factorials = series<14>([](int k) { return 1.0 / factorial(k); });
[[gnu::always_inline]] inline double exp_reduced(double r) { return polynomial<inverse_factorials>(r); }

/// Returns e^r 2^n in two factors, so that neither leaves the range of exponents where the product does not.
template <class T>
[[gnu::always_inline]] inline T scaled(T value, typename Exponent<T>::Bits n) {
  using E = Exponent<T>;
  using Bits = typename E::Bits;
  const Bits half = n >> 1;
  const T first = std::bit_cast<T>(static_cast<Bits>((half + E::bias) << E::mantissa_bits));
  const T second = std::bit_cast<T>(static_cast<Bits>((n - half + E::bias) << E::mantissa_bits));
  return value * first * second;
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
  return scaled(exp_reduced(r),
                static_cast<Bits>(std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(E::shift)));
}

/// Σ r^k / (k + 2)!, of which r + r² q(r) is e^r − 1.
template <std::size_t n>
inline constexpr auto expm1_series = series<n>([](int k) { return 1.0 / factorial(k + 2); });

/// Returns e^x − 1 = 2^n (e^r − 1) + 2^n − 1, with the two large terms added without loss. `n_terms`
/// sets the precision.
template <std::size_t n_terms>
[[gnu::always_inline]] inline double expm1_of(double x) {
  using E = Exponent<double>;
  double bounded = x < -40.0 ? -40.0 : x;
  bounded = bounded > E::highest ? E::highest : bounded;
  const double shifted = std::fma(bounded, E::log2_e, E::shift), n = shifted - E::shift;
  const double high = std::fma(-n, E::ln2_high, bounded), low = n * E::ln2_low, r = high - low;
  const double rest = std::fma(r * r, polynomial<expm1_series<n_terms>>(r), (high - r) - low);
  const std::int64_t whole = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(E::shift);
  const double half =
      std::bit_cast<double>((whole + E::bias - 1) << E::mantissa_bits);  // 2^(n − 1): 2^n may be too large
  const double a = half * r, b = half - 0.5, sum = a + b, part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  const double result = 2.0 * (sum + std::fma(half, rest, error));
  return std::abs(x) < 0x1p-54 ? x : result;
}

/// Returns e^x / 2 of x >= 0, infinite where that is too large.
[[gnu::always_inline]] inline Pair half_exp(double x) {
  using E = Exponent<double>;
  const double bounded = x > 712.0 ? 712.0 : x;
  const double shifted = std::fma(bounded, E::log2_e, E::shift), n = shifted - E::shift;
  const double high = std::fma(-n, E::ln2_high, bounded), low = n * E::ln2_low, r = high - low;
  const Pair sum = fast_sum(1.0, r);
  const double rest = std::fma(r * r, polynomial<expm1_series<13>>(r), (high - r) - low);
  const Pair value = fast_sum(sum.high, sum.low + rest);
  const std::int64_t whole = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(E::shift);
  return {scaled(value.high, whole - 1), scaled(value.low, whole - 1)};
}

/// (sinh x / x − 1) / x² in powers of x².
template <std::size_t n>
inline constexpr auto sinh_series = series<n>([](int k) { return 1.0 / factorial(2 * k + 3); });

/// Returns h ± 1 / (4 h), h = e^|x| / 2.
[[gnu::always_inline]] inline double sinh_of(double x) {
  const double size = std::abs(x), z = x * x;
  const double inside = std::fma(size * z, polynomial<sinh_series<9>>(z), size);
  const Pair half = half_exp(size);
  const double other = 0.25 / half.high, difference = half.high - other;
  const double outside = difference + (((half.high - difference) - other) + half.low);
  const double finite = size < 1.0 ? inside : outside;
  return std::copysign(half.high < std::numeric_limits<double>::infinity() ? finite : half.high, x);
}
[[gnu::always_inline]] inline double cosh_of(double x) {
  const Pair half = half_exp(std::abs(x));
  const double other = 0.25 / half.high, sum = half.high + other;
  const double value = sum + (((half.high - sum) + other) + half.low);
  return half.high < std::numeric_limits<double>::infinity() ? value : half.high;
}
/// For f32.
[[gnu::always_inline]] inline double short_sinh_of(double x) {
  const double size = std::abs(x), z = x * x, e = exp_of(size);
  const double inside = std::fma(size * z, polynomial<sinh_series<5>>(z), size);
  return std::copysign(size < 1.0 ? inside : 0.5 * (e - 1.0 / e), x);
}
[[gnu::always_inline]] inline double short_cosh_of(double x) {
  const double e = exp_of(std::abs(x));
  return 0.5 * (e + 1.0 / e);
}

/// (tanh x / x − 1) / x² in powers of x², 0 to 1: interpolation at Chebyshev's points
/// (scripts/vmath_coefficients.py).
inline constexpr std::array tanh_double{
    -0.33333333333333331,    0.13333333333333089,    -0.053968253968046373,   0.021869488529129091,
    -0.0088632354045782829,  0.0035921266793663411,  -0.0014558246920964941,  0.0005899792946300052,
    -0.00023895705228738225, 9.6462777433131813e-05, -3.8389607893147334e-05, 1.4606131676715378e-05,
    -4.9877603175203466e-06, 1.3791814499083342e-06, -2.6330772232959337e-07, 2.5155023659382105e-08};
inline constexpr std::array tanh_single{
    -0.33333333156722311,   0.133333106555451,    -0.053963414754438839,   0.02182954884305937,
    -0.0086978475928148787, 0.003206803386846565, -0.00092350084634817606, 0.00014279318799621565};

template <const auto& coefficients>
[[gnu::always_inline]] inline double tanh_of(double x) {
  const double size = std::abs(x), z = x * x;
  const double inside = std::fma(size * z, polynomial<coefficients>(z), size);
  const double outside = 1.0 - 2.0 / (exp_of(2.0 * size) + 1.0);
  return std::copysign(size < 1.0 ? inside : outside, x);
}

/// Coefficients of (erf x / x − 2/√π) / x² in powers of x², 0 to 1; behind them those of e^{x²} erfc x in
/// powers of 2 / (2 + x) − 1/2; x goes from 1 to 6 (to 4 for f32).
inline constexpr std::array erf_double{
    -0.37612638903183754,    0.11283791670955125,    -0.026866170645131082,   0.0052239776254384687,
    -0.00085483270230246957, 0.00012055332952700439, -1.4925649082364785e-05, 1.6462076794793434e-06,
    -1.6365085592632062e-07, 1.4796618901290416e-08, -1.219035624032117e-09,  8.8006800904602032e-11,
    -4.374621450325064e-12};
inline constexpr std::array erf_single{
    -0.37612638888904282,    0.11283790270103468,    -0.026865945307221414,  0.0052226111279911214,
    -0.00085085452873373665, 0.00011451736882114557, -1.0216748055511625e-05};
inline constexpr std::array erfc_double{0.25539567631050575,   0.85437169482791675,   0.96663277696986583,
                                        0.63182864812585704,   0.059726278469244221,  -0.2239187756544142,
                                        -0.0542171680589046,   0.12569305940068978,   0.011150234161959609,
                                        -0.08927291671240839,  0.028186091889875014,  0.056483562852978252,
                                        -0.057213224148055901, -0.011408352736205234, 0.062082509107338674,
                                        -0.03860324422656191,  -0.034882826113225761, 0.055250793978112521};
inline constexpr std::array erfc_single{0.25539567625190335,   0.85437169522868606,  0.96663284436289776,
                                        0.63182818618026793,   0.059714261620848155, -0.22383537323519864,
                                        -0.053541758313510768, 0.12085243316317101};

template <const auto& near_zero, const auto& far>
[[gnu::always_inline]] inline double erf_of(double x, double last) {
  constexpr double slope_high = 0x1.20dd750429b6dp+0, slope_low = 0x1.1ae3a914fed80p-56;  // 2/√π
  const double z = x * x, bounded = std::abs(x) > last ? last : std::abs(x);
  const double inside = std::fma(x, slope_high, x * std::fma(z, polynomial<near_zero>(z), slope_low));
  const double outside = 1.0 - exp_of(-bounded * bounded) * polynomial<far>(2.0 / (2.0 + bounded) - 0.5);
  return std::abs(x) < 1.0 ? inside : std::copysign(outside, x);
}

/// Returns 1 / (1 + e), e = e^−x, with the rounding of the sum and of the quotient put right; e^x where it is
/// less than half an ulp from that.
template <class T>
[[gnu::always_inline]] inline T sigmoid_of(T x) {
  constexpr T far = std::is_same_v<T, float> ? T(-18) : T(-40);
  const T e = exp_of(x < far ? x : -x), sum = T(1) + e, part = sum - T(1);
  const T error = (T(1) - (sum - part)) + (e - part), quotient = T(1) / sum;
  const T better = std::fma(quotient, std::fma(-sum, quotient, T(1)) - error * quotient, quotient);
  return x < far ? e : better;
}

}  // namespace detail

[[gnu::always_inline]] inline float exp(float x) { return detail::exp_of(x); }
[[gnu::always_inline]] inline double exp(double x) { return detail::exp_of(x); }
[[gnu::always_inline]] inline float expm1(float x) { return static_cast<float>(detail::expm1_of<7>(x)); }
[[gnu::always_inline]] inline double expm1(double x) { return detail::expm1_of<13>(x); }
[[gnu::always_inline]] inline float sinh(float x) { return static_cast<float>(detail::short_sinh_of(x)); }
[[gnu::always_inline]] inline double sinh(double x) { return detail::sinh_of(x); }
[[gnu::always_inline]] inline float cosh(float x) { return static_cast<float>(detail::short_cosh_of(x)); }
[[gnu::always_inline]] inline double cosh(double x) { return detail::cosh_of(x); }
[[gnu::always_inline]] inline float tanh(float x) {
  return static_cast<float>(detail::tanh_of<detail::tanh_single>(x));
}
[[gnu::always_inline]] inline double tanh(double x) { return detail::tanh_of<detail::tanh_double>(x); }
[[gnu::always_inline]] inline float erf(float x) {
  return static_cast<float>(detail::erf_of<detail::erf_single, detail::erfc_single>(x, 4.0));
}
[[gnu::always_inline]] inline double erf(double x) {
  return detail::erf_of<detail::erf_double, detail::erfc_double>(x, 6.0);
}
/// Returns 1 / (1 + e^−x).
template <class T>
[[gnu::always_inline]] inline T sigmoid(T x) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return detail::sigmoid_of(x);
  } else {
    return T(1) / (T(1) + std::exp(-x));
  }
}

}  // namespace lodestone::engine::vmath
