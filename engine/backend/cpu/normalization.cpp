// SPDX-License-Identifier: Apache-2.0
// Normalization of the columns (all axes but the last reduced) or the rows (the last axis reduced) of a
// matrix, without intermediate arrays; what follows a normalization, in one pass each.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/sums.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/record/rule_args.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace lodestone::engine::cpu_backend {
namespace {

enum class Along { rows, columns };

/// Which of the two it is, if any.
std::optional<Along> direction(const Axes& axes, int rank) {
  if (axes == IntList::counting(rank - 1) && rank > 1) return Along::columns;
  if (axes == IntList{rank - 1}) return Along::rows;
  return std::nullopt;
}

/// The shift and scale of each column: mean, 1 / deviation; for slopes the means of t and of t y, with y the
/// normalized values.
template <class T>
struct Moments {
  std::vector<T> mean, r, mean_t, mean_ty;
};

// Passes over rows first … last − 1 of matrices with m columns.
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
template <class T>
[[gnu::always_inline]] inline void add_products(const T* a, const T* b, Dim first, Dim last, Dim m,
                                                double* total) {
  add_columns<T>(
      first, last, m, m, total, [=](auto load, Dim at, Dim) __attribute__((always_inline)) {
        return load(a + at) * load(b + at);
      });
}
template <class T>
[[gnu::always_inline]] inline void add_slopes(const T* x, const T* t, const Moments<T>& of, Dim first,
                                              Dim last, Dim m, double* total) {
  const T *const mean = of.mean.data(), *const r = of.r.data();
  add_columns<T>(
      first, last, m, m, total, [=](auto load, Dim at, Dim j) __attribute__((always_inline)) {
        return load(t + at) * (load(x + at) - load(mean + j)) * load(r + j);
      });
}
template <class T>
[[gnu::always_inline]] inline void write_values(const T* x, T* y, const Moments<T>& of, Dim first, Dim last,
                                                Dim m) {
  const T *const mean = of.mean.data(), *const r = of.r.data();
  for (Dim i = first; i < last; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = (x[i * m + j] - mean[j]) * r[j];
  }
}
template <class T>
[[gnu::always_inline]] inline void write_slopes(const T* x, const T* t, T* out, const Moments<T>& of,
                                                Dim first, Dim last, Dim m) {
  const T *const mean = of.mean.data(), *const r = of.r.data(), *const mean_t = of.mean_t.data(),
                 *const mean_ty = of.mean_ty.data();
  for (Dim i = first; i < last; ++i) {
    for (Dim j = 0; j < m; ++j) {
      const Dim at = i * m + j;
      out[at] = r[j] * (t[at] - mean_t[j] - (x[at] - mean[j]) * r[j] * mean_ty[j]);
    }
  }
}

constexpr double ns_per_element = 0.3;

template <class T>
std::vector<T> means_of(const std::vector<double>& totals, Dim n) {
  std::vector<T> means(totals.size());
  for (std::size_t j = 0; j < means.size(); ++j)
    means[j] = static_cast<T>(totals[j] / static_cast<double>(n));
  return means;
}

/// Returns the moments of the columns of x [n, m].
template <class T>
Moments<T> measured(const T* x, Dim n, Dim m, double epsilon) {
  const auto sums = [&](const auto& add) { return sums_of_pieces(n, m, m, ns_per_element, add); };
  const auto values = Widest<add_values<T>>::get();
  const auto squares = Widest<add_squares<T>>::get();
  Moments<T> of;
  of.mean =
      means_of<T>(sums([&](Dim first, Dim last, double* total) { values(x, first, last, m, total); }), n);
  const auto total =
      sums([&](Dim first, Dim last, double* part) { squares(x, of.mean.data(), first, last, m, part); });
  for (const double each : total)
    of.r.push_back(static_cast<T>(1.0 / std::sqrt(each / static_cast<double>(n) + epsilon)));
  return of;
}

template <class T>
void normalize_columns(const T* x, T* y, Dim n, Dim m, double epsilon) {
  const Moments<T> of = measured(x, n, m, epsilon);
  const auto write = Widest<write_values<T>>::get();
  share(n, ns_per_element * static_cast<double>(n * m),
        [&](Dim first, Dim last) { write(x, y, of, first, last, m); });
}

template <class T>
void slope_columns(const T* x, const T* t, T* out, Dim n, Dim m, double epsilon) {
  Moments<T> of = measured(x, n, m, epsilon);
  const auto values = Widest<add_values<T>>::get();
  const auto slopes = Widest<add_slopes<T>>::get();
  const auto total =
      sums_of_pieces(n, m, 2 * m, 2.0 * ns_per_element, [&](Dim first, Dim last, double* part) {
        for (Dim from = first; from < last; from += rows_at_once) {  // t is in cache for the second
          values(t, from, std::min(from + rows_at_once, last), m, part);
          slopes(x, t, of, from, std::min(from + rows_at_once, last), m, part + m);
        }
      });
  of.mean_t = means_of<T>({total.begin(), total.begin() + m}, n);
  of.mean_ty = means_of<T>({total.begin() + m, total.end()}, n);
  const auto write = Widest<write_slopes<T>>::get();
  share(n, ns_per_element * static_cast<double>(n * m),
        [&](Dim first, Dim last) { write(x, t, out, of, first, last, m); });
}

/// Σ term(j) over a row: blocks of 1024 in the working precision, those in double.
template <class T, class Term>
[[gnu::always_inline]] inline double row_sum(Dim n, const Term& term) {
  constexpr Dim block = 1024;
  const auto add = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  double total = 0.0;
  for (Dim from = 0; from < n; from += block) {
    const auto shifted = [&](std::int64_t j) __attribute__((always_inline)) { return term(from + j); };
    total += static_cast<double>(in_lanes(std::min(block, n - from), T(0), add, shifted));
  }
  return total;
}

/// Mean and reciprocal deviation of a row.
template <class T>
[[gnu::always_inline]] inline std::pair<T, T> row_moments(const T* x, Dim n, double epsilon) {
  const auto count = static_cast<double>(n);
  const T mean = static_cast<T>(row_sum<T>(
                                    n, [=](Dim j) __attribute__((always_inline)) { return x[j]; }) /
                                count);
  const double squares = row_sum<T>(
      n, [=](Dim j) __attribute__((always_inline)) { return (x[j] - mean) * (x[j] - mean); });
  return {mean, static_cast<T>(1.0 / std::sqrt(squares / count + epsilon))};
}
template <class T>
[[gnu::always_inline]] inline void normalize_rows(const T* x, T* y, Dim rows, Dim n, double epsilon) {
  for (Dim i = 0; i < rows; ++i, x += n, y += n) {
    const auto [mean, r] = row_moments(x, n, epsilon);
    for (Dim j = 0; j < n; ++j) y[j] = (x[j] - mean) * r;
  }
}
template <class T>
[[gnu::always_inline]] inline void slope_rows(const T* x, const T* t, T* out, Dim rows, Dim n,
                                              double epsilon) {
  const auto count = static_cast<double>(n);
  for (Dim i = 0; i < rows; ++i, x += n, t += n, out += n) {
    const auto moments = row_moments(x, n, epsilon);
    const T mean = moments.first, r = moments.second;
    const T mean_t = static_cast<T>(row_sum<T>(
                                        n, [=](Dim j) __attribute__((always_inline)) { return t[j]; }) /
                                    count);
    const T mean_ty = static_cast<T>(
        row_sum<T>(
            n, [=](Dim j) __attribute__((always_inline)) { return t[j] * (x[j] - mean) * r; }) /
        count);
    for (Dim j = 0; j < n; ++j) out[j] = r * (t[j] - mean_t - (x[j] - mean) * r * mean_ty);
  }
}

template <class T>
[[gnu::always_inline]] inline void scale_shift_rows(const T* x, const T* scale, const T* shift, T* y, Dim n,
                                                    Dim m) {
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = x[i * m + j] * scale[j] + shift[j];
  }
}

template <class T>
void normalize_kernel(const KernelCall& call) {
  const auto& attrs = call.attrs_of<NormalizeAttrs>();
  const Shape& shape = call.out.shape();
  if (shape.count() == 0) return;
  const Dim m = shape.back(), n = shape.count() / m;
  const T* x = call.in[0].as<T>();
  T* y = call.out.as<T>();
  if (direction(attrs.axes, shape.rank()) == Along::columns)
    return normalize_columns(x, y, n, m, attrs.epsilon);
  const auto run = Widest<normalize_rows<T>>::get();
  share(n, 3.0 * ns_per_element * static_cast<double>(n * m),
        [&](Dim first, Dim last) { run(x + first * m, y + first * m, last - first, m, attrs.epsilon); });
}

template <class T>
void slope_kernel(const KernelCall& call) {
  const auto& attrs = call.attrs_of<NormalizeAttrs>();
  const Shape& shape = call.out.shape();
  if (shape.count() == 0) return;
  const Dim m = shape.back(), n = shape.count() / m;
  const T *x = call.in[0].as<T>(), *t = call.in[1].as<T>();
  T* out = call.out.as<T>();
  if (direction(attrs.axes, shape.rank()) == Along::columns)
    return slope_columns(x, t, out, n, m, attrs.epsilon);
  const auto run = Widest<slope_rows<T>>::get();
  share(n, 5.0 * ns_per_element * static_cast<double>(n * m), [&](Dim first, Dim last) {
    run(x + first * m, t + first * m, out + first * m, last - first, m, attrs.epsilon);
  });
}

template <class T>
void products_kernel(const KernelCall& call) {
  const Dim m = call.out.count();
  if (m == 0) return;
  const auto run = Widest<add_products<T>>::get();
  const auto total =
      sums_of_pieces(call.in[0].count() / m, m, m, ns_per_element, [&](Dim first, Dim last, double* part) {
        run(call.in[0].as<T>(), call.in[1].as<T>(), first, last, m, part);
      });
  std::transform(total.begin(), total.end(), call.out.as<T>(),
                 [](double each) { return static_cast<T>(each); });
}

template <class T>
void scale_shift_kernel(const KernelCall& call) {
  const auto run = Widest<scale_shift_rows<T>>::get();
  const Dim m = call.in[1].count();
  if (call.out.count() == 0) return;
  share(call.out.count() / m, ns_per_element * static_cast<double>(call.out.count()),
        [&](Dim first, Dim last) {
          run(call.in[0].as<T>() + first * m, call.in[1].as<T>(), call.in[2].as<T>(),
              call.out.as<T>() + first * m, last - first, m);
        });
}

bool sums_columns(const InferArgs& args) {
  const int rank = args.aval(0).shape.rank();
  return rank > 0 && args.as<ReduceAttrs>().axes == IntList::counting(rank - 1);
}

bool accepts(const InferArgs& args) {
  return direction(args.as<NormalizeAttrs>().axes, args.aval(0).shape.rank()).has_value();
}

}  // namespace

void register_normalization_kernels(OpTable& table) {
  OpInfo& of_value = table.at("normalize");
  of_value.accepts = accepts;
  of_value.with_kernel(Backend::processor, DType::f32, {"cpu.columns", normalize_kernel<float>, true});
  of_value.with_kernel(Backend::processor, DType::f64, {"cpu.columns", normalize_kernel<double>, true});
  OpInfo& of_slope = table.at("normalize_slope");
  of_slope.accepts = accepts;
  of_slope.with_kernel(Backend::processor, DType::f32, {"cpu.columns", slope_kernel<float>, true});
  of_slope.with_kernel(Backend::processor, DType::f64, {"cpu.columns", slope_kernel<double>, true});
  OpInfo& products = table.at("sum_products");
  products.accepts = sums_columns;
  products.with_kernel(Backend::processor, DType::f32, {"cpu.columns", products_kernel<float>, true});
  products.with_kernel(Backend::processor, DType::f64, {"cpu.columns", products_kernel<double>, true});
  OpInfo& affine = table.at("scale_shift");
  affine.with_kernel(Backend::processor, DType::f32, {"cpu.rows", scale_shift_kernel<float>, true, true});
  affine.with_kernel(Backend::processor, DType::f64, {"cpu.rows", scale_shift_kernel<double>, true, true});
}

}  // namespace lodestone::engine::cpu_backend
