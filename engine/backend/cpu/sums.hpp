// SPDX-License-Identifier: Apache-2.0
// Sums in the orders of reduction_order.hpp: the same bits on every instruction set and number of threads.
#pragma once

#include "engine/backend/cpu/reduction_order.hpp"
#include "engine/backend/cpu/share.hpp"

namespace lodestone::engine::cpu_backend {

/// The access of a term to its operands: one element, or as many as `bytes` hold.
struct OneElement {
  template <class T>
  [[gnu::always_inline]] inline T operator()(const T* x) const {
    return *x;
  }
};
template <std::size_t bytes>
struct Elements {
  template <class T>
  struct Vector {
    using Type [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  };
  template <class T>
  [[gnu::always_inline]] inline auto operator()(const T* x) const {
    return *reinterpret_cast<const typename Vector<T>::Type*>(x);
  }
};

/// Columns j … j + `Load`'s number − 1 of rows first … last − 1.
template <class T, class Load, class Term>
[[gnu::always_inline]] inline void add_rows(Dim first, Dim last, Dim step, Dim j, double* total,
                                            const Term& term) {
  using Sum = decltype(term(Load{}, Dim{0}, Dim{0}));
  constexpr Load load;
  Sum a{}, b{}, c{}, d{};
  Dim i = first;
  for (; i + 4 <= last; i += 4) {
    a += term(load, i * step + j, j);
    b += term(load, (i + 1) * step + j, j);
    c += term(load, (i + 2) * step + j, j);
    d += term(load, (i + 3) * step + j, j);
  }
  if (i < last) a += term(load, i * step + j, j);
  if (i + 1 < last) b += term(load, (i + 1) * step + j, j);
  if (i + 2 < last) c += term(load, (i + 2) * step + j, j);
  const Sum sum = (a + b) + (c + d);
  T parts[sizeof(Sum) / sizeof(T)];
  __builtin_memcpy(parts, &sum, sizeof sum);
  for (std::size_t k = 0; k < sizeof(Sum) / sizeof(T); ++k)
    total[static_cast<std::size_t>(j) + k] += static_cast<double>(parts[k]);
}

/// total[j] += Σ term(load, i · step + j, j) over rows i of m columns, from `first` to `last` − 1; `first` is
/// a multiple of `rows_at_once`. A term takes elements, or vectors of them, by load(pointer).
template <class T, class Term>
[[gnu::always_inline]] inline void add_columns(Dim first, Dim last, Dim step, Dim m, double* total,
                                               const Term& term) {
  constexpr Dim wide = 64 / sizeof(T), narrow = 16 / sizeof(T);
  for (Dim from = first; from < last; from += rows_at_once) {
    const Dim to = std::min(from + rows_at_once, last);
    Dim j = 0;
    for (; j + wide <= m; j += wide) add_rows<T, Elements<64>>(from, to, step, j, total, term);
    for (; j + narrow <= m; j += narrow) add_rows<T, Elements<16>>(from, to, step, j, total, term);
    for (; j < m; ++j) add_rows<T, OneElement>(from, to, step, j, total, term);
  }
}

/// Threads share the pieces of n rows of m columns: part(first, last, total) adds what rows first … last − 1
/// give to `n_totals` sums, which are the first of `totals` in the end; n_totals elements for each piece.
/// m: columns, of which a row has elements; ns: per element.
template <class Part>
void sums_of_pieces(Dim n, Dim m, Dim n_totals, double ns, double* totals, Part&& part) {
  const Pieces pieces(n, m);
  std::fill_n(totals, pieces.n * n_totals, 0.0);
  share(pieces.n, ns * static_cast<double>(n * m), [&](Dim begin, Dim end) {
    for (Dim p = begin; p < end; ++p)
      part(p * pieces.rows, std::min((p + 1) * pieces.rows, n), totals + p * n_totals);
  });
  for (Dim p = 1; p < pieces.n; ++p) {
    for (Dim k = 0; k < n_totals; ++k) totals[k] += totals[p * n_totals + k];
  }
}

/// combine over term(0), …, term(n − 1), in 16 lanes.
template <class T, class Combine, class Term>
[[gnu::always_inline]] inline T in_lanes(std::int64_t n, T start, const Combine& combine, const Term& term) {
  T lanes[n_lanes];
  for (T& lane : lanes) lane = start;
  const std::int64_t whole = n / n_lanes * n_lanes;
  for (std::int64_t i = 0; i < whole; i += n_lanes) {
    for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = combine(lanes[k], term(i + k));
  }
  for (std::int64_t i = whole; i < n; ++i) lanes[i - whole] = combine(lanes[i - whole], term(i));
  return of_lanes(lanes, combine);
}

}  // namespace lodestone::engine::cpu_backend
