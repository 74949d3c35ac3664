// SPDX-License-Identifier: Apache-2.0
// asin, acos, atan, atan2: a multiple of π/4 or π/2 plus the angle of a small number, with what the sum and
// the number's own rounding lost. See vmath.hpp.
#pragma once

#include "engine/vmath/polynomial.hpp"

namespace lodestone::engine::vmath {
namespace detail {

/// Coefficients of (asin x / x − 1) / x² in powers of x², 0 to 1/4; then of (atan x / x − 1) / x², 0 to
/// (√2 − 1)². source: scripts/vmath_coefficients.py.
inline constexpr std::array asin_double{0.16666666666666669,   0.074999999999984329, 0.044642857146355429,
                                        0.030381944138531247,  0.022372172942149889, 0.017352392720869973,
                                        0.013971212973552933,  0.011479177415184906, 0.010322814350185779,
                                        0.0054575067186403581, 0.017400879442694021, -0.014851887071247204,
                                        0.028757851367421566};
inline constexpr std::array asin_single{0.16666666337430908,  0.075000945434974237, 0.044599401528512182,
                                        0.031100662735494569, 0.017149238357677253, 0.033690847202830117};
inline constexpr std::array atan_double{-0.33333333333333331,  0.19999999999999804,   -0.14285714285659828,
                                        0.11111111105155447,   -0.090909087535008773, 0.076922963750321427,
                                        -0.066664248857382549, 0.058789289978347752,  -0.052304542706502442,
                                        0.045515932206265493,  -0.034570561981427744, 0.016285756855221028};
inline constexpr std::array atan_single{-0.33333331761168522, 0.19999540483648964, -0.1426395559798464,
                                        0.10743731490791084, -0.064519282081217488};

inline constexpr double quarter_high = 0x1.921fb54442d18p-1, quarter_low = 0x1.1a62633145c07p-55;  // π/4

/// n π/4 + w (s + rest), n = 0 or |n π/4| >= |w s|.
[[gnu::always_inline]] inline double angle_at(double n, double w, double s, double rest) {
  const double base = n * quarter_high, lost = std::fma(n, quarter_high, -base);
  const Pair sum = fast_sum(base, w * s);
  return sum.high + (sum.low + std::fma(n, quarter_low, std::fma(w, rest, lost)));
}

/// An argument of asin beyond 1/2 is told by that of √((1 − |x|) / 2), which is at most 1/2.
struct Arc {
  double is_far, s, rest;  ///< asin s = s + rest
};
template <const auto& coefficients>
[[gnu::always_inline]] inline Arc arc_of(double x) {
  const double size = std::abs(x);
  const bool is_far = size > 0.5;
  const double z = is_far ? 0.5 - 0.5 * size : x * x, root = std::sqrt(z), s = is_far ? root : size;
  const double of_root = std::fma(-root, root, z) / (2.0 * (root > 0.0 ? root : 1.0)),
               lost = is_far ? of_root : 0.0;
  return {is_far ? 1.0 : 0.0, s, std::fma(s * z, polynomial<coefficients>(z), lost)};
}
template <const auto& coefficients>
[[gnu::always_inline]] inline double asin_of(double x) {
  const Arc arc = arc_of<coefficients>(x);
  return std::copysign(angle_at(2.0 * arc.is_far, arc.is_far == 1.0 ? -2.0 : 1.0, arc.s, arc.rest), x);
}
template <const auto& coefficients>
[[gnu::always_inline]] inline double acos_of(double x) {
  const Arc arc = arc_of<coefficients>(x);
  const double sign = std::copysign(1.0, x), of_far = x < 0.0 ? 4.0 : 0.0;
  return angle_at(arc.is_far == 1.0 ? of_far : 2.0, arc.is_far == 1.0 ? 2.0 * sign : -sign, arc.s, arc.rest);
}

/// The angle of (x, y). Of |x| and |y| the smaller over the larger; where that exceeds √2 − 1, from π/4 on:
/// tan (θ − π/4) = (u − v) / (u + v).
template <const auto& coefficients>
[[gnu::always_inline]] inline double angle_of(double y, double x) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), root_less_one = 0.41421356237309503;
  const double a = std::abs(y), b = std::abs(x), small = a > b ? b : a, large = a > b ? a : b;
  const double of_infinite = small == infinity ? 1.0 : 0.0;
  const double u1 = large == infinity ? of_infinite : small,
               v1 = large == infinity || large == 0.0 ? 1.0 : large;
  const double up = v1 < 0x1p-900 ? 0x1p120 : 1.0,
               scale = v1 > 0x1p1000 ? 0x1p-60 : up;  // so that nothing below leaves the range
  const double u = u1 * scale, v = v1 * scale;
  const bool is_turned = u > root_less_one * v;
  const double difference = u - v, sum = u + v, n = is_turned ? difference : u, d = is_turned ? sum : v;
  const double n_lost = u - (difference + v), d_lost = u - (sum - v), t = n / d;
  const double of_turned = n_lost - t * d_lost,
               rest = (std::fma(-t, d, n) + (is_turned ? of_turned : 0.0)) / d;
  const double z = t * t, tail = std::fma(t * z, polynomial<coefficients>(z), rest);
  const double k = is_turned ? 1.0 : 0.0, k_swapped = a > b ? 2.0 - k : k, w = a > b ? -1.0 : 1.0;
  const bool is_left = std::copysign(1.0, x) < 0.0;
  const double value =
      std::copysign(angle_at(is_left ? 4.0 - k_swapped : k_swapped, is_left ? -w : w, t, tail), y);
  const double with_nan = y == y ? value : y;
  return x == x ? with_nan : x;
}

}  // namespace detail

[[gnu::always_inline]] inline float asin(float x) {
  return static_cast<float>(detail::asin_of<detail::asin_single>(x));
}
[[gnu::always_inline]] inline double asin(double x) { return detail::asin_of<detail::asin_double>(x); }
[[gnu::always_inline]] inline float acos(float x) {
  return static_cast<float>(detail::acos_of<detail::asin_single>(x));
}
[[gnu::always_inline]] inline double acos(double x) { return detail::acos_of<detail::asin_double>(x); }
[[gnu::always_inline]] inline float atan(float x) {
  return static_cast<float>(detail::angle_of<detail::atan_single>(x, 1.0));
}
[[gnu::always_inline]] inline double atan(double x) { return detail::angle_of<detail::atan_double>(x, 1.0); }
[[gnu::always_inline]] inline float atan2(float y, float x) {
  return static_cast<float>(detail::angle_of<detail::atan_single>(y, x));
}
[[gnu::always_inline]] inline double atan2(double y, double x) {
  return detail::angle_of<detail::atan_double>(y, x);
}

}  // namespace lodestone::engine::vmath
