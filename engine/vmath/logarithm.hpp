// SPDX-License-Identifier: Apache-2.0
// log, log1p and pow: x = 2^k m, √½ <= m < √2, and ln m = 2 artanh s, s = (m − 1) / (m + 1). See vmath.hpp.
#pragma once

#include "engine/vmath/exponential.hpp"

namespace lodestone::engine::vmath {
namespace detail {

inline constexpr double ln2_high = 0x1.62e42fee00000p-1,
                        ln2_low = 0x1.a39ef35793c76p-33;  // k ln2_high is exact

/// 2/3 + 2/5 z + 2/7 z² + …: |s| <= 0.172, so 10 terms leave 2^-60 out, 4 terms 2^-29.
template <std::size_t n>
inline constexpr auto artanh_series = series<n>([](int k) { return 2.0 / (2 * k + 3); });

struct Split {
  double exponent, mantissa;
};

/// Splits a positive normal number.
[[gnu::always_inline]] inline Split split(double x) {
  constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD, bias = std::uint64_t{1024} << 52,
                          exponent_bits = 0xFFF0000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(x), shifted = bits - root_half + bias;
  const double exponent = std::bit_cast<double>((shifted >> 52) | 0x4330000000000000) - (0x1p52 + 1024.0);
  return {exponent, std::bit_cast<double>(bits - (shifted & exponent_bits) + bias)};
}

/// Splits any positive number.
[[gnu::always_inline]] inline Split split_any(double x) {
  const bool is_subnormal = x < std::numeric_limits<double>::min();
  const Split parts = split(is_subnormal ? x * 0x1p54 : x);
  return {is_subnormal ? parts.exponent - 54.0 : parts.exponent, parts.mantissa};
}

/// Returns k ln 2 + ln (1 + f) + c, c a small correction: 2s = f − s f, so only small terms are rounded.
template <std::size_t n_terms>
[[gnu::always_inline]] inline double log_of_split(double k, double f, double c) {
  const double s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
  const double inner = half_square + z * polynomial<artanh_series<n_terms>>(z);
  return k * ln2_high - ((half_square - std::fma(s, inner, std::fma(k, ln2_low, c))) - f);
}

/// Returns a logarithm with its values at the ends of its domain and outside; `size` is the argument.
[[gnu::always_inline]] inline double at_ends(double inside, double size) {
  using Limits = std::numeric_limits<double>;
  const double bounded = size < Limits::infinity() ? inside : size;  // a NaN too
  const double above = size == 0.0 ? -Limits::infinity() : bounded;
  return size < 0.0 ? Limits::quiet_NaN() : above;
}

template <std::size_t n_terms>
[[gnu::always_inline]] inline double log_of(double x) {
  const Split parts = split_any(x);
  return at_ends(log_of_split<n_terms>(parts.exponent, parts.mantissa - 1.0, 0.0), x);
}

/// Returns ln u + (what the sum u = 1 + x lost) / u.
template <std::size_t n_terms>
[[gnu::always_inline]] inline double log1p_of(double x) {
  const double u = 1.0 + x;
  const Split parts = split(u);
  const bool is_direct = parts.exponent == 0.0;
  const double lost = (x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
  const double result =
      log_of_split<n_terms>(parts.exponent, is_direct ? x : parts.mantissa - 1.0, is_direct ? 0.0 : lost);
  return std::abs(x) < 0x1p-54 ? x : at_ends(result, x == -1.0 ? 0.0 : x < -1.0 ? -1.0 : u);
}

/// ln x of a positive number to 2^-65: s and s³ as pairs, the rest of the series in one number.
[[gnu::always_inline]] inline Pair precise_log(double x) {
  constexpr double third_high = 0x1.5555555555555p-1, third_low = 0x1.5555555555555p-55;  // 2/3
  const auto [k, m] = split_any(x);
  const double f = m - 1.0, d = m + 1.0, lost = m - (d - 1.0);
  const double s = f / d, s_low = (std::fma(-s, d, f) - s * lost) / d;
  const Pair square = product(s, s), cube = product(s, square.high);
  const double square_low = std::fma(2.0 * s, s_low, square.low),
               cube_low = cube.low + std::fma(s, square_low, s_low * square.high);
  const Pair third = product(cube.high, third_high);
  const double third_rest = third.low + std::fma(cube.high, third_low, cube_low * third_high);
  static constexpr auto fifth = series<12>([](int i) { return 2.0 / (2 * i + 5); });
  const double rest = cube.high * square.high * polynomial<fifth>(square.high);
  const Pair sum = fast_sum(k * ln2_high, 2.0 * s), with_cube = fast_sum(sum.high, third.high);
  const double low = sum.low + with_cube.low + (std::fma(2.0, s_low, third_rest) + (rest + k * ln2_low));
  return fast_sum(with_cube.high, low);
}

/// Returns e^(high + low).
[[gnu::always_inline]] inline double exp_of_pair(Pair x) {
  using E = Exponent<double>;
  const bool is_far = !(std::abs(x.high) < 746.0);
  double high = x.high < E::lowest ? E::lowest : x.high;
  high = high > E::highest ? E::highest : high;
  const double shifted = std::fma(high, E::log2_e, E::shift), n = shifted - E::shift;
  const double a = std::fma(-n, E::ln2_high, high), b = std::fma(-n, E::ln2_low, is_far ? 0.0 : x.low);
  const Pair r = fast_sum(a, b);
  const double value =
      1.0 + (r.high + std::fma(r.high * r.high, polynomial<expm1_series<13>>(r.high), r.low));
  return scaled(value, std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(E::shift));
}

/// x^y from |x|^y: signs, zeros, infinities and NaN as the C standard has them. Selections on numbers, not on
/// conditions that depend on each other: those would be branches.
[[gnu::always_inline]] inline double power_at_ends(double x, double y, double of_size) {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const double size = std::abs(x), half = 0.5 * y;
  const double whole = std::floor(y) == y ? 1.0 : 0.0, odd = std::floor(half) == half ? 0.0 : whole;
  const double grows = y < 0.0 ? infinity : 0.0, falls = y < 0.0 ? 0.0 : infinity;
  double result = size == 0.0 ? grows : of_size;
  result = size == infinity ? falls : result;
  result = size == 1.0 ? 1.0 : result;
  const double signed_result = std::copysign(result, x);
  result = odd == 1.0 ? signed_result : result;
  const double of_negative = size == infinity ? result : nan;
  const double of_any = x < 0.0 ? of_negative : result;
  result = whole == 1.0 ? result : of_any;
  const double sum = x + y;  // NaN for opposite infinities too, which are no exception
  const double of_nan = size == infinity ? result : sum;
  const double with_nan = y == y ? of_nan : sum;
  result = sum == sum ? result : with_nan;
  result = y == 0.0 ? 1.0 : result;
  return x == 1.0 ? 1.0 : result;
}

}  // namespace detail

[[gnu::always_inline]] inline float log(float x) { return static_cast<float>(detail::log_of<4>(x)); }
[[gnu::always_inline]] inline double log(double x) { return detail::log_of<10>(x); }
[[gnu::always_inline]] inline float log1p(float x) { return static_cast<float>(detail::log1p_of<4>(x)); }
[[gnu::always_inline]] inline double log1p(double x) { return detail::log1p_of<10>(x); }
[[gnu::always_inline]] inline double pow(double x, double y) {
  const detail::Pair log_x = detail::precise_log(std::abs(x)), main = detail::product(y, log_x.high);
  return detail::power_at_ends(x, y, detail::exp_of_pair({main.high, std::fma(y, log_x.low, main.low)}));
}
[[gnu::always_inline]] inline float pow(float x, float y) {
  const double log_x = detail::log_of<10>(std::abs(static_cast<double>(x)));
  return static_cast<float>(detail::power_at_ends(x, y, detail::exp_of(static_cast<double>(y) * log_x)));
}

}  // namespace lodestone::engine::vmath
