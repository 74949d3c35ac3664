// SPDX-License-Identifier: Apache-2.0
// Means and deviations of columns: what normalizations begin with.
#pragma once

#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/sums.hpp"

#include <cmath>

namespace lodestone::engine::cpu_backend {

/// Nanoseconds per element of a pass over columns, roughly.
inline constexpr double ns_of_column_pass = 0.3;

// Sums over rows first … last − 1 of matrices with m columns.
template <class T>
[[gnu::always_inline]] inline void add_values(const T* x, Dim first, Dim last, Dim m, double* total) {
  add_columns<T>(
      first, last, m, m,
      total, [x](auto load, Dim at, Dim) __attribute__((always_inline)) { return load(x + at); });
}
template <class T>
[[gnu::always_inline]] inline void add_squares(const T* x, const T* mean, Dim first, Dim last, Dim m,
                                               double* total) {
  add_columns<T>(
      first, last, m, m, total, [=](auto load, Dim at, Dim j) __attribute__((always_inline)) {
        const auto change = load(x + at) - load(mean + j);
        return change * change;
      });
}

/// means[j] = totals[j] / n.
template <class T>
void divide_by_count(const double* totals, Dim n, Dim m, T* means) {
  std::transform(totals, totals + m, means,
                 [n](double each) { return static_cast<T>(each / static_cast<double>(n)); });
}

/// Returns 1 / (variance + epsilon)^(1/2).
template <class T>
[[nodiscard]] T reciprocal_deviation(double variance, double epsilon) {
  return static_cast<T>(1.0 / std::sqrt(variance + epsilon));
}

/// Writes the means of the columns of x [n, m], and the sums of the squared distances from them to the first
/// m of `totals`, which has m elements for each of `Pieces(n, m)`.
template <class T>
void measure_columns(const T* x, Dim n, Dim m, T* mean, double* totals) {
  const auto values = Widest<add_values<T>>::get();
  const auto squares = Widest<add_squares<T>>::get();
  sums_of_pieces(n, m, m, ns_of_column_pass, totals,
                 [&](Dim first, Dim last, double* total) { values(x, first, last, m, total); });
  divide_by_count(totals, n, m, mean);
  sums_of_pieces(n, m, m, ns_of_column_pass, totals,
                 [&](Dim first, Dim last, double* total) { squares(x, mean, first, last, m, total); });
}

}  // namespace lodestone::engine::cpu_backend
