// SPDX-License-Identifier: Apache-2.0
// Polynomials with coefficients known to the compiler, unrolled so that loops over them vectorize; numbers in
// two parts. See vmath.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace lodestone::engine::vmath::detail {

[[nodiscard]] constexpr double factorial(int n) {
  double product = 1.0;
  for (int k = 2; k <= n; ++k) product *= k;
  return product;
}

/// Returns n coefficients, of the k-th power the k-th.
template <std::size_t n, class Of>
[[nodiscard]] constexpr std::array<double, n> series(Of of) {
  std::array<double, n> result{};
  for (std::size_t k = 0; k < n; ++k) result[k] = of(static_cast<int>(k));
  return result;
}

/// Horner's rule; coefficients from the constant term on.
template <const auto& coefficients, std::size_t... k>
[[gnu::always_inline]] inline double horner(double x, std::index_sequence<k...>) {
  constexpr std::size_t last = sizeof...(k);
  double value = coefficients[last];
  ((value = std::fma(value, x, coefficients[last - 1 - k])), ...);
  return value;
}
template <const auto& coefficients>
[[gnu::always_inline]] inline double polynomial(double x) {
  return horner<coefficients>(x, std::make_index_sequence<coefficients.size() - 1>{});
}

/// A sum of two numbers, the second a correction of the first.
struct Pair {
  double high, low;
};
/// |a| >= |b|, or a = 0.
[[gnu::always_inline]] inline Pair fast_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
[[gnu::always_inline]] inline Pair product(double a, double b) {
  const double high = a * b;
  return {high, std::fma(a, b, -high)};
}

}  // namespace lodestone::engine::vmath::detail
