// SPDX-License-Identifier: Apache-2.0
// Normalization of the columns (all axes but the last reduced) or the rows (the last axis reduced) of a
// matrix, without intermediate arrays; what follows a normalization, in one pass each.
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/moments.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/record/rule_args.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lodestone::engine::cpu_backend {
namespace {

enum class Along { rows, columns };

/// Which of the two it is, if any.
std::optional<Along> direction(const Axes& axes, int rank) {
  if (axes == IntList::counting(rank - 1) && rank > 1) return Along::columns;
  if (axes == IntList{rank - 1}) return Along::rows;
  return std::nullopt;
}

/// The arrays of a normalization of columns: mean and reciprocal deviation r of each, for slopes the means of
/// t and of t y, with y the normalized values; sums of pieces.
template <class T, int n_inputs>
struct Columns {
  T *mean, *r, *mean_t = nullptr, *mean_ty = nullptr;
  double* totals;

  Columns(Layout& layout, Dim n, Dim m) : mean(layout.array<T>(m)), r(layout.array<T>(m)) {
    if (n_inputs == 2) mean_t = layout.array<T>(m);
    if (n_inputs == 2) mean_ty = layout.array<T>(m);
    totals = layout.array<double>(Pieces(n, m).n * n_inputs * m);
  }
  void measure(const T* x, Dim n, Dim m, double epsilon) const {
    measure_columns(x, n, m, mean, totals);
    for (Dim j = 0; j < m; ++j) r[j] = reciprocal_deviation<T>(totals[j] / static_cast<double>(n), epsilon);
  }
};

// Passes over rows first … last − 1 of matrices with m columns.
template <class T>
[[gnu::always_inline]] inline void add_products(const T* a, const T* b, Dim first, Dim last, Dim m,
                                                double* total) {
  add_columns<T>(
      first, last, m, m, total, [=](auto load, Dim at, Dim) __attribute__((always_inline)) {
        return load(a + at) * load(b + at);
      });
}
template <class T>
[[gnu::always_inline]] inline void write_values(const T* x, T* y, const Columns<T, 1>& of, Dim first,
                                                Dim last, Dim m) {
  const T *const mean = of.mean, *const r = of.r;
  for (Dim i = first; i < last; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = (x[i * m + j] - mean[j]) * r[j];
  }
}
template <class T>
void normalize_columns(const KernelCall& call, Dim n, Dim m) {
  const T* x = call.in[0].as<T>();
  T* y = call.out[0].as<T>();
  Layout layout(call.scratch.shared());
  const Columns<T, 1> of(layout, n, m);
  of.measure(x, n, m, call.attrs_of<NormalizeAttrs>().epsilon);
  const auto write = Widest<write_values<T>>::get();
  in_blocks<T>(call, n, m, ns_of_column_pass, [&](Dim first, Dim last) { write(x, y, of, first, last, m); });
}

template <class T>
void slope_columns(const KernelCall& call, Dim n, Dim m) {
  const T *x = call.in[0].as<T>(), *t = call.in[1].as<T>();
  Layout layout(call.scratch.shared());
  const Columns<T, 2> of(layout, n, m);
  of.measure(x, n, m, call.attrs_of<NormalizeAttrs>().epsilon);
  const ColumnSlopes<T> slopes{x, t, of.mean, of.r, of.r, of.mean_t, of.mean_ty};
  measure_slopes(slopes, n, m, of.totals);
  write_slopes(slopes, n, m, call.out[0].as<T>());
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
  return {mean, reciprocal_deviation<T>(squares / count, epsilon)};
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

/// A matrix [n, m] whose columns or rows are normalized.
struct Matrix {
  Dim n, m;
  Along along;
  explicit Matrix(const KernelCall& call) {
    const Shape& shape = call.out[0].shape();
    m = shape.back();
    n = m > 0 ? shape.count() / m : 0;
    along = *direction(call.attrs_of<NormalizeAttrs>().axes, shape.rank());
  }
};

template <class T, int n_inputs>
Workspace normalize_workspace(const KernelCall& call) {
  const Matrix of(call);
  Layout layout;
  if (of.along == Along::columns) static_cast<void>(Columns<T, n_inputs>(layout, of.n, of.m));
  return {.shared = layout.bytes()};
}

template <class T>
void normalize_kernel(const KernelCall& call) {
  if (call.out[0].count() == 0) return;
  const auto [n, m, along] = Matrix(call);
  if (along == Along::columns) return normalize_columns<T>(call, n, m);
  const auto run = Widest<normalize_rows<T>>::get();
  T* const y = call.out[0].as<T>();
  const T* const x = call.reader == nullptr ? call.in[0].as<T>() : y;  // a reader makes rows there
  in_blocks<T>(call, n, m, 3.0 * ns_of_column_pass, [&, m = m](Dim first, Dim last) {
    run(x + first * m, y + first * m, last - first, m, call.attrs_of<NormalizeAttrs>().epsilon);
  });
}

template <class T>
void slope_kernel(const KernelCall& call) {
  if (call.out[0].count() == 0) return;
  const auto [n, m, along] = Matrix(call);
  if (along == Along::columns) return slope_columns<T>(call, n, m);
  const auto run = Widest<slope_rows<T>>::get();
  share(n, 5.0 * ns_of_column_pass * static_cast<double>(n * m), [&, m = m](Dim first, Dim last) {
    run(call.in[0].as<T>() + first * m, call.in[1].as<T>() + first * m, call.out[0].as<T>() + first * m,
        last - first, m, call.attrs_of<NormalizeAttrs>().epsilon);
  });
}

/// Rows are read whole, columns three times.
Dim elements_read(const KernelCall& call) {
  return Matrix(call).along == Along::rows ? elements_of_row(call) : 0;
}

double* totals_of_products(Layout& layout, const KernelCall& call) {
  const Dim m = call.out[0].count(), n = m > 0 ? call.in[0].count() / m : 0;
  return layout.array<double>(Pieces(n, m).n * m);
}

template <class T>
void products_kernel(const KernelCall& call) {
  const Dim m = call.out[0].count();
  if (m == 0) return;
  const auto run = Widest<add_products<T>>::get();
  double* const totals = shared_arrays<totals_of_products>(call);
  sums_of_pieces(call.in[0].count() / m, m, m, ns_of_column_pass, totals,
                 [&](Dim first, Dim last, double* part) {
                   run(call.in[0].as<T>(), call.in[1].as<T>(), first, last, m, part);
                 });
  std::transform(totals, totals + m, call.out[0].as<T>(), [](double each) { return static_cast<T>(each); });
}

template <class T>
void scale_shift_kernel(const KernelCall& call) {
  const auto run = Widest<scale_shift_rows<T>>::get();
  const Dim m = call.in[1].count();
  if (call.out[0].count() == 0) return;
  share(call.out[0].count() / m, ns_of_column_pass * static_cast<double>(call.out[0].count()),
        [&](Dim first, Dim last) {
          run(call.in[0].as<T>() + first * m, call.in[1].as<T>(), call.in[2].as<T>(),
              call.out[0].as<T>() + first * m, last - first, m);
        });
}

template <class T>
[[gnu::always_inline]] inline void scale_shift_loop(const Plane& plane, std::byte* out,
                                                    const PlaneInputs& in) {
  T* y = reinterpret_cast<T*>(out);
  const T *x = reinterpret_cast<const T*>(in[0]), *scale = reinterpret_cast<const T*>(in[1]),
          *shift = reinterpret_cast<const T*>(in[2]);
  const auto [of_x, of_scale, of_shift] = plane.step;
  const bool are_dense = of_x == 1 && of_scale == 1 && of_shift == 1;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    if (are_dense) {
      for (std::int64_t i = 0; i < plane.length; ++i) y[i] = x[i] * scale[i] + shift[i];
    } else {
      for (std::int64_t i = 0; i < plane.length; ++i)
        y[i] = x[i * of_x] * scale[i * of_scale] + shift[i * of_shift];
    }
    y += plane.length;
    x += plane.row_step[0];
    scale += plane.row_step[1];
    shift += plane.row_step[2];
  }
}
template <class T>
PlaneFn widest_scale_shift() {
  return Widest<scale_shift_loop<T>>::get();
}
template <class T>
constexpr LoopBody scale_shift_body{widest_scale_shift<T>, 3, ns_of_column_pass, "c * a + b"};

/// One step instead of a product and a sum, whose bits it has.
template <class T>
ExprId scale_shift_expression(ExprWriter& writer, const Attrs*, std::span<const ExprId> in) {
  return writer.apply(scale_shift_body<T>, core::dtype_of<T>, in);
}

bool sums_columns(const InferArgs& args) {
  const int rank = args.aval(0).shape.rank();
  return rank > 0 && args.as<ReduceAttrs>().axes == IntList::counting(rank - 1);
}

bool accepts(const InferArgs& args) {
  return direction(args.as<NormalizeAttrs>().axes, args.aval(0).shape.rank()).has_value();
}

template <class T>
void register_for(OpTable& table) {
  const auto put = [&](std::string_view name, const Kernel& kernel) {
    table.at(name).with_kernel(Backend::processor, core::dtype_of<T>, kernel);
  };
  put("normalize", {.name = "cpu.columns",
                    .run = normalize_kernel<T>,
                    .contiguous_inputs = true,
                    .workspace = normalize_workspace<T, 1>,
                    .hands_over = elements_of_row,
                    .reads_by = elements_read});
  put("normalize_slope", {.name = "cpu.columns",
                          .run = slope_kernel<T>,
                          .contiguous_inputs = true,
                          .workspace = normalize_workspace<T, 2>});
  put("sum_products", {.name = "cpu.columns",
                       .run = products_kernel<T>,
                       .contiguous_inputs = true,
                       .workspace = shared_workspace<totals_of_products>});
  put("scale_shift", {.name = "cpu.rows",
                      .run = scale_shift_kernel<T>,
                      .contiguous_inputs = true,
                      .in_place = true,
                      .expression = scale_shift_expression<T>});
}

}  // namespace

void register_normalization_kernels(OpTable& table) {
  table.at("normalize").accepts = accepts;
  table.at("normalize_slope").accepts = accepts;
  table.at("sum_products").accepts = sums_columns;
  register_for<float>(table);
  register_for<double>(table);
}

}  // namespace lodestone::engine::cpu_backend
