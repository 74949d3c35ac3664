// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/vmath/logarithm.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace lodestone::engine::vmath {

/// Returns a₀ + a₁ x + … by Horner's rule.
template <class T, std::size_t n>
[[nodiscard]] inline T polynomial_of(T x, const std::array<double, n>& a) {
  T sum = static_cast<T>(a[n - 1]);
  for (std::size_t i = n - 1; i > 0; --i) sum = sum * x + static_cast<T>(a[i - 1]);
  return sum;
}

/// Returns the quantile of the standard normal distribution, to some 1e-16 relative. source: Wichura 1988,
/// algorithm AS 241 (PPND16), doi:10.2307/2347330
template <class T>
[[nodiscard]] inline T normal_quantile(T p) {
  static constexpr std::array<double, 8> a{
      3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
      4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr std::array<double, 8> b{1.0,
                                           4.2313330701600911252e1,
                                           6.8718700749205790830e2,
                                           5.3941960214247511077e3,
                                           2.1213794301586595867e4,
                                           3.9307895800092710610e4,
                                           2.8729085735721942674e4,
                                           5.2264952788528545610e3};
  static constexpr std::array<double, 8> c{1.42343711074968357734e0,  4.63033784615654529590e0,
                                           5.76949722146069140550e0,  3.64784832476320460504e0,
                                           1.27045825245236838258e0,  2.41780725177450611770e-1,
                                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr std::array<double, 8> d{1.0,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr std::array<double, 8> e{6.65790464350110377720e0,  5.46378491116411436990e0,
                                           1.78482653991729133580e0,  2.96560571828504891230e-1,
                                           2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr std::array<double, 8> f{1.0,
                                           5.99832206555887937690e-1,
                                           1.36929880922735805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};
  const T q = p - T(0.5);
  if (std::abs(q) <= T(0.425)) {
    const T r = T(0.180625) - q * q;
    return q * polynomial_of(r, a) / polynomial_of(r, b);
  }
  const T tail = q < T(0) ? p : T(1) - p;
  if (!(tail > T(0)))
    return tail == T(0) ? std::copysign(std::numeric_limits<T>::infinity(), q)
                        : std::numeric_limits<T>::quiet_NaN();
  const T r = std::sqrt(-log(tail));
  const T x = r <= T(5) ? polynomial_of(r - T(1.6), c) / polynomial_of(r - T(1.6), d)
                        : polynomial_of(r - T(5), e) / polynomial_of(r - T(5), f);
  return q < T(0) ? -x : x;
}

/// f32 by way of f64.
[[nodiscard]] inline float normal_quantile(float p) {
  return static_cast<float>(normal_quantile(static_cast<double>(p)));
}

}  // namespace lodestone::engine::vmath
