// SPDX-License-Identifier: Apache-2.0
// Means and deviations of columns, and slopes of what is normalized by them.
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
/// m of `totals`. It has m elements for each of `Pieces(n, m)`.
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

/// Slopes of normalized columns along t: factor (t − mean t − y mean(t y)), y = (x − mean) r.
template <class T>
struct ColumnSlopes {
  const T *x, *t, *mean, *r, *factor;
  T *mean_t, *mean_ty;  ///< written by `measure_slopes`
};

template <class T>
[[gnu::always_inline]] inline void add_slopes(const ColumnSlopes<T>& of, Dim first, Dim last, Dim m,
                                              double* total) {
  const T *const x = of.x, *const t = of.t, *const mean = of.mean, *const r = of.r;
  add_columns<T>(
      first, last, m, m, total, [=](auto load, Dim at, Dim j) __attribute__((always_inline)) {
        return load(t + at) * (load(x + at) - load(mean + j)) * load(r + j);
      });
}
template <class T>
[[gnu::always_inline]] inline void write_slope_rows(const ColumnSlopes<T>& of, T* out, Dim first, Dim last,
                                                    Dim m) {
  const T *const x = of.x, *const t = of.t, *const mean = of.mean, *const r = of.r, *const factor = of.factor,
                 *const mean_t = of.mean_t, *const mean_ty = of.mean_ty;
  for (Dim i = first; i < last; ++i) {
    for (Dim j = 0; j < m; ++j) {
      const Dim at = i * m + j;
      out[at] = factor[j] * (t[at] - mean_t[j] - (x[at] - mean[j]) * r[j] * mean_ty[j]);
    }
  }
}

/// Writes the sums of t and of t y to the first 2 m of `totals`, and their means. It has 2 m elements for
/// each piece.
template <class T>
void measure_slopes(const ColumnSlopes<T>& of, Dim n, Dim m, double* totals) {
  const auto values = Widest<add_values<T>>::get();
  const auto slopes = Widest<add_slopes<T>>::get();
  sums_of_pieces(n, m, 2 * m, 2.0 * ns_of_column_pass, totals, [&](Dim first, Dim last, double* part) {
    for (Dim from = first; from < last; from += rows_at_once) {  // t is in cache for the second
      values(of.t, from, std::min(from + rows_at_once, last), m, part);
      slopes(of, from, std::min(from + rows_at_once, last), m, part + m);
    }
  });
  divide_by_count(totals, n, m, of.mean_t);
  divide_by_count(totals + m, n, m, of.mean_ty);
}

/// Writes the slopes; `out` may be x or t.
template <class T>
void write_slopes(const ColumnSlopes<T>& of, Dim n, Dim m, T* out) {
  const auto write = Widest<write_slope_rows<T>>::get();
  share(n, ns_of_column_pass * static_cast<double>(n * m),
        [&](Dim first, Dim last) { write(of, out, first, last, m); });
}

}  // namespace lodestone::engine::cpu_backend
