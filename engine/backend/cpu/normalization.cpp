// SPDX-License-Identifier: Apache-2.0
// Normalisation of the columns (all axes but the last reduced) or the rows (the last axis reduced) of a matrix, without intermediate arrays; what follows
// a normalisation, in one pass each.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

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

/// Sums of a column are taken over this many rows in the working precision, and those sums in double.
constexpr Dim rows_at_once = 64;

/// total[j] = Σ_i term(i, j).
template <class T, class Term>
[[gnu::always_inline]] inline void column_sums(Dim n, Dim m, std::vector<T>& part, std::vector<double>& total, Term&& term) {
  std::fill(total.begin(), total.end(), 0.0);
  for (Dim first = 0; first < n; first += rows_at_once) {
    std::fill(part.begin(), part.end(), T(0));
    T* const sums = part.data();
    for (Dim i = first; i < std::min(first + rows_at_once, n); ++i) {
      for (Dim j = 0; j < m; ++j) sums[j] += term(i * m + j, j);
    }
    for (Dim j = 0; j < m; ++j) total[static_cast<std::size_t>(j)] += static_cast<double>(sums[j]);
  }
}

/// Mean and reciprocal deviation of each column.
template <class T>
struct Columns {
  std::vector<T> mean, r, part;
  std::vector<double> total;

  explicit Columns(Dim m) : mean(size(m)), r(size(m)), part(size(m)), total(size(m)) {}
  static std::size_t size(Dim m) { return static_cast<std::size_t>(m); }

  [[gnu::always_inline]] inline void measure(const T* x, Dim n, Dim m, double epsilon) {
    column_sums<T>(n, m, part, total, [x](Dim at, Dim) { return x[at]; });
    for (std::size_t j = 0; j < size(m); ++j) mean[j] = static_cast<T>(total[j] / static_cast<double>(n));
    const T* const centre = mean.data();
    column_sums<T>(n, m, part, total, [x, centre](Dim at, Dim j) { return (x[at] - centre[j]) * (x[at] - centre[j]); });
    for (std::size_t j = 0; j < size(m); ++j) r[j] = static_cast<T>(1.0 / std::sqrt(total[j] / static_cast<double>(n) + epsilon));
  }
};

template <class T>
[[gnu::always_inline]] inline void normalize_columns(const T* x, T* y, Dim n, Dim m, double epsilon) {
  Columns<T> columns(m);
  columns.measure(x, n, m, epsilon);
  const T *const mean = columns.mean.data(), *const r = columns.r.data();
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = (x[i * m + j] - mean[j]) * r[j];
  }
}

template <class T>
[[gnu::always_inline]] inline void slope_columns(const T* x, const T* t, T* out, Dim n, Dim m, double epsilon) {
  Columns<T> columns(m);
  columns.measure(x, n, m, epsilon);
  const T *const mean = columns.mean.data(), *const r = columns.r.data();
  std::vector<T> mean_t(Columns<T>::size(m)), mean_ty(Columns<T>::size(m));
  column_sums<T>(n, m, columns.part, columns.total, [t](Dim at, Dim) { return t[at]; });
  for (std::size_t j = 0; j < mean_t.size(); ++j) mean_t[j] = static_cast<T>(columns.total[j] / static_cast<double>(n));
  column_sums<T>(n, m, columns.part, columns.total, [=](Dim at, Dim j) { return t[at] * (x[at] - mean[j]) * r[j]; });
  for (std::size_t j = 0; j < mean_t.size(); ++j) mean_ty[j] = static_cast<T>(columns.total[j] / static_cast<double>(n));
  const T *const of_t = mean_t.data(), *const of_ty = mean_ty.data();
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) {
      const Dim at = i * m + j;
      out[at] = r[j] * (t[at] - of_t[j] - (x[at] - mean[j]) * r[j] * of_ty[j]);
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void product_columns(const T* a, const T* b, T* out, Dim n, Dim m) {
  std::vector<T> part(Columns<T>::size(m));
  std::vector<double> total(Columns<T>::size(m));
  column_sums<T>(n, m, part, total, [a, b](Dim at, Dim) { return a[at] * b[at]; });
  for (Dim j = 0; j < m; ++j) out[j] = static_cast<T>(total[static_cast<std::size_t>(j)]);
}

template <class T>
[[gnu::always_inline]] inline void scale_shift_rows(const T* x, const T* scale, const T* shift, T* y, Dim n, Dim m) {
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = x[i * m + j] * scale[j] + shift[j];
  }
}

/// f(x of a row, number of rows, columns): rows are columns of one-column matrices.
template <class F>
void by_direction(const KernelCall& call, F&& f) {
  const Shape& shape = call.out.shape();
  const Dim m = shape.back(), n = m > 0 ? call.out.count() / m : 0;
  if (call.out.count() == 0) return;
  if (direction(call.attrs_of<NormalizeAttrs>().axes, shape.rank()) == Along::columns) return f(Dim{0}, n, m);
  for (Dim i = 0; i < n; ++i) f(i * m, m, Dim{1});
}

template <class T>
void normalize_kernel(const KernelCall& call) {
  const auto run = Widest<normalize_columns<T>>::get();
  const double epsilon = call.attrs_of<NormalizeAttrs>().epsilon;
  by_direction(call, [&](Dim first, Dim n, Dim m) { run(call.in[0].as<T>() + first, call.out.as<T>() + first, n, m, epsilon); });
}

template <class T>
void slope_kernel(const KernelCall& call) {
  const auto run = Widest<slope_columns<T>>::get();
  const double epsilon = call.attrs_of<NormalizeAttrs>().epsilon;
  by_direction(call, [&](Dim first, Dim n, Dim m) {
    run(call.in[0].as<T>() + first, call.in[1].as<T>() + first, call.out.as<T>() + first, n, m, epsilon);
  });
}

template <class T>
void products_kernel(const KernelCall& call) {
  const auto run = Widest<product_columns<T>>::get();
  const Dim m = call.out.count();
  if (m > 0) run(call.in[0].as<T>(), call.in[1].as<T>(), call.out.as<T>(), call.in[0].count() / m, m);
}

template <class T>
void scale_shift_kernel(const KernelCall& call) {
  const auto run = Widest<scale_shift_rows<T>>::get();
  const Dim m = call.in[1].count();
  if (call.out.count() == 0) return;
  run(call.in[0].as<T>(), call.in[1].as<T>(), call.in[2].as<T>(), call.out.as<T>(), call.out.count() / m, m);
}

bool sums_columns(const InferArgs& args) {
  const int rank = args.aval(0).shape.rank();
  return rank > 0 && args.as<ReduceAttrs>().axes == IntList::counting(rank - 1);
}

bool accepts(const InferArgs& args) { return direction(args.as<NormalizeAttrs>().axes, args.aval(0).shape.rank()).has_value(); }

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
