// SPDX-License-Identifier: Apache-2.0
// sin, cos and tan: x = n π/2 + r, |r| <= π/4. Angles up to 2^26 vectorize; larger ones are reduced by
// integers, one at a time. See vmath.hpp.
#pragma once

#include "engine/vmath/polynomial.hpp"

namespace lodestone::engine::vmath {
namespace detail {

inline constexpr double largest_usual_angle = 0x1p26;

/// The remainder in two parts and n mod 4.
struct Angle {
  double high, low;
  std::uint64_t quadrant;
};

/// π/2 in three parts, of which the first makes no rounding error and the second a known one. errors: below
/// 2^-110 n.
[[gnu::always_inline]] inline Angle reduced_angle(double x) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, shift = 0x1.8p52;
  constexpr double first = 0x1.921fb54442d18p+0, second = 0x1.1a62633145c07p-54,
                   third = -0x1.f1976b7ed8fbcp-110;
  const double shifted = std::fma(x, two_over_pi, shift), n = shifted - shift;
  const double r = std::fma(-n, first, x), w = n * second, high = r - w;
  const double low = (((r - high) - w) - std::fma(n, second, -w)) - n * third;
  return {high, low, std::bit_cast<std::uint64_t>(shifted) & 3};
}

/// Reduces any finite x: its 53 bits times the bits of 2/π that matter, modulo 4. source: Payne & Hanek 1983,
/// doi:10.1145/1057600.1057602
[[nodiscard]] inline Angle reduced_large_angle(double x) {
  __extension__ using Wide = unsigned __int128;
  __extension__ using SignedWide = __int128;
  static constexpr std::array<std::uint64_t, 20> two_over_pi{0,
                                                             0xa2f9836e4e441529,
                                                             0xfc2757d1f534ddc0,
                                                             0xdb6295993c439041,
                                                             0xfe5163abdebbc561,
                                                             0xb7246e3a424dd2e0,
                                                             0x06492eea09d1921c,
                                                             0xfe1deb1cb129a73e,
                                                             0xe88235f52ebb4484,
                                                             0xe99c7026b45f7e41,
                                                             0x3991d639835339f4,
                                                             0x9c845f8bbdf9283b,
                                                             0x1ff897ffde05980f,
                                                             0xef2f118b5a0a6d1f,
                                                             0x6d367ecf27cb09b7,
                                                             0x4f463f669e5fea2d,
                                                             0x7527bac7ebe5f17b,
                                                             0x3d0739f78a5292ea,
                                                             0x6bfb5fb11f8d5d08,
                                                             0x56033046fc7b6bab};
  const auto bits = std::bit_cast<std::uint64_t>(std::abs(x));
  const std::uint64_t mantissa = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000;
  const auto from = static_cast<std::size_t>(64 - 2 + static_cast<int>(bits >> 52) -
                                             1075);  // |x| = mantissa 2^(exponent − 1075)
  const auto word = [&](std::size_t i) {
    const std::size_t at = from / 64 + i, by = from % 64;
    return by == 0 ? two_over_pi[at] : two_over_pi[at] << by | two_over_pi[at + 1] >> (64 - by);
  };
  // mantissa · (three words) modulo 2^192 is the angle as a fraction of 2π.
  const Wide low = Wide{mantissa} * word(2),
             middle = Wide{mantissa} * word(1) + static_cast<std::uint64_t>(low >> 64);
  const std::uint64_t top = mantissa * word(0) + static_cast<std::uint64_t>(middle >> 64);
  const Wide turn = (Wide{top} << 64 | static_cast<std::uint64_t>(middle));
  const Wide quarter = turn << 2 | (static_cast<std::uint64_t>(low) >> 62);
  const std::uint64_t quadrant = (top >> 62) + static_cast<std::uint64_t>(quarter >> 127);
  const auto fraction = static_cast<SignedWide>(quarter);  // of π/2, in units of 2^-128, −1/2 to 1/2
  const auto high = static_cast<double>(fraction);
  const auto low_part = static_cast<double>(fraction - static_cast<SignedWide>(high));
  constexpr double first = 0x1.921fb54442d18p-128, second = 0x1.1a62633145c07p-182;  // π/2 · 2^-128
  const double r = high * first, rest = std::fma(high, first, -r) + std::fma(high, second, low_part * first);
  const double sum = r + rest, sign = std::copysign(1.0, x);
  return {sign * sum, sign * (rest - (sum - r)), (x < 0.0 ? 4 - (quadrant & 3) : quadrant) & 3};
}

/// Σ (−1)^k r^2k / (2k + 3)! with the sign of its first term, and of the cosine's terms from r^4 on.
template <std::size_t n>
inline constexpr auto sin_series = series<n>([](int k) {
  return (k % 2 == 0 ? -1.0 : 1.0) / factorial(2 * k + 3);
});
template <std::size_t n>
inline constexpr auto cos_series = series<n>([](int k) {
  return (k % 2 == 0 ? 1.0 : -1.0) / factorial(2 * k + 4);
});

/// Returns sin of the angle `quarters` later.
template <std::size_t n_sin, std::size_t n_cos>
[[gnu::always_inline]] inline double sin_of(const Angle& angle, std::uint64_t quarters) {
  const double r = angle.high, z = r * r, half = 0.5 * z, one_minus = 1.0 - half;
  const double sine = r + std::fma(r * z, polynomial<sin_series<n_sin>>(z), angle.low * one_minus);
  const double cosine = one_minus + (((1.0 - one_minus) - half) +
                                     std::fma(z * z, polynomial<cos_series<n_cos>>(z), -r * angle.low));
  const std::uint64_t quadrant = angle.quadrant + quarters;
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? -value : value;
}

template <std::size_t n_sin, std::size_t n_cos>
[[gnu::always_inline]] inline double sin_of_any(double x, std::uint64_t quarters) {
  if (std::abs(x) <= largest_usual_angle) {
    const double result = sin_of<n_sin, n_cos>(reduced_angle(x), quarters);
    return x == 0.0 && quarters == 0 ? x : result;
  }
  return std::isfinite(x) ? sin_of<n_sin, n_cos>(reduced_large_angle(x), quarters)
                          : std::numeric_limits<double>::quiet_NaN();
}

/// Returns sin / cos or −cos / sin, each as a pair; of f32 as one number.
template <std::size_t n_sin, std::size_t n_cos>
[[gnu::always_inline]] inline double tan_of(const Angle& angle) {
  const double r = angle.high, z = r * r, half = 0.5 * z, one_minus = 1.0 - half;
  const Pair sine = fast_sum(r, std::fma(r * z, polynomial<sin_series<n_sin>>(z), angle.low * one_minus));
  const double of_cosine =
      ((1.0 - one_minus) - half) + std::fma(z * z, polynomial<cos_series<n_cos>>(z), -r * angle.low);
  const Pair cosine = fast_sum(one_minus, of_cosine);
  const bool is_odd = (angle.quadrant & 1) != 0;
  const Pair a{is_odd ? -cosine.high : sine.high, is_odd ? -cosine.low : sine.low};
  const Pair b{is_odd ? sine.high : cosine.high, is_odd ? sine.low : cosine.low};
  const double quotient = a.high / b.high;
  if constexpr (n_sin < 8) return quotient;
  return quotient + (std::fma(-quotient, b.high, a.high) + (a.low - quotient * b.low)) / b.high;
}

template <std::size_t n_sin, std::size_t n_cos>
[[gnu::always_inline]] inline double tan_of_any(double x) {
  if (std::abs(x) <= largest_usual_angle) {
    const double result = tan_of<n_sin, n_cos>(reduced_angle(x));
    return x == 0.0 ? x : result;
  }
  return std::isfinite(x) ? tan_of<n_sin, n_cos>(reduced_large_angle(x))
                          : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace detail

/// Returns true if `usual_sin`, `usual_cos` and `usual_tan` may be called; loops check it to vectorize.
template <class T>
[[gnu::always_inline]] inline bool is_usual_angle(T x) {
  return std::abs(x) <= static_cast<T>(detail::largest_usual_angle);
}
[[gnu::always_inline]] inline double usual_sin(double x) {
  const double result = detail::sin_of<8, 7>(detail::reduced_angle(x), 0);
  return x == 0.0 ? x : result;
}
[[gnu::always_inline]] inline double usual_cos(double x) {
  return detail::sin_of<8, 7>(detail::reduced_angle(x), 1);
}
[[gnu::always_inline]] inline float usual_sin(float x) {
  const double result = detail::sin_of<4, 4>(detail::reduced_angle(x), 0);
  return x == 0.0F ? x : static_cast<float>(result);
}
[[gnu::always_inline]] inline float usual_cos(float x) {
  return static_cast<float>(detail::sin_of<4, 4>(detail::reduced_angle(x), 1));
}
[[gnu::always_inline]] inline double usual_tan(double x) {
  const double result = detail::tan_of<8, 7>(detail::reduced_angle(x));
  return x == 0.0 ? x : result;
}
[[gnu::always_inline]] inline float usual_tan(float x) {
  const double result = detail::tan_of<5, 4>(detail::reduced_angle(x));
  return x == 0.0F ? x : static_cast<float>(result);
}

inline double sin(double x) { return detail::sin_of_any<8, 7>(x, 0); }
inline double cos(double x) { return detail::sin_of_any<8, 7>(x, 1); }
inline float sin(float x) { return static_cast<float>(detail::sin_of_any<4, 4>(x, 0)); }
inline float cos(float x) { return static_cast<float>(detail::sin_of_any<4, 4>(x, 1)); }
inline double tan(double x) { return detail::tan_of_any<8, 7>(x); }
inline float tan(float x) { return static_cast<float>(detail::tan_of_any<5, 4>(x)); }

}  // namespace lodestone::engine::vmath
