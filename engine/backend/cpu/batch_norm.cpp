// SPDX-License-Identifier: Apache-2.0
// Batch norm of the columns of x [n, m]: three passes for values and moments, two for slopes.
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/moments.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// The n numbers of each of m channels.
struct Extents {
  Dim n, m;
  explicit Extents(const KernelCall& call)
      : n(call.out[1].count() > 0 ? call.out[0].count() / call.out[1].count() : 0), m(call.out[1].count()) {}
};

template <class T>
struct ValueArrays {
  T* r;
  double* totals;
};
template <class T>
ValueArrays<T> value_arrays(Layout& layout, const KernelCall& call) {
  const auto [n, m] = Extents(call);
  return {layout.array<T>(m), layout.array<double>(Pieces(n, m).n * m)};
}

/// The numbers of each column.
template <class T>
struct Columns {
  const T *mean, *r, *scale, *shift;
};

template <class T>
[[gnu::always_inline]] inline void write_rows(const T* x, T* y, const Columns<T>& of, Dim n, Dim m) {
  const T *const mean = of.mean, *const r = of.r, *const scale = of.scale, *const shift = of.shift;
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) y[i * m + j] = (x[i * m + j] - mean[j]) * r[j] * scale[j] + shift[j];
  }
}

template <class T>
void values_kernel(const KernelCall& call) {
  const auto [n, m] = Extents(call);
  if (m == 0) return;
  const T* x = call.in[0].as<T>();
  T *y = call.out[0].as<T>(), *mean = call.out[1].as<T>(), *variance = call.out[2].as<T>();
  const auto [r, totals] = shared_arrays<value_arrays<T>>(call);
  measure_columns(x, n, m, mean, totals);
  divide_by_count(totals, n, m, variance);
  for (Dim j = 0; j < m; ++j)
    r[j] = reciprocal_deviation<T>(totals[j] / static_cast<double>(n), call.attrs_of<EpsilonAttrs>().epsilon);
  const Columns<T> of{mean, r, call.in[1].as<T>(), call.in[2].as<T>()};
  const auto write = Widest<write_rows<T>>::get();
  in_blocks<T>(call, n, m, ns_of_column_pass,
               [&, m = m](Dim first, Dim last) { write(x + first * m, y + first * m, of, last - first, m); });
}

template <class T>
struct SlopeArrays {
  T *r, *factor, *mean_t, *mean_ty;
  double* totals;
};
template <class T>
SlopeArrays<T> slope_arrays(Layout& layout, const KernelCall& call) {
  const auto [n, m] = Extents(call);
  return {layout.array<T>(m), layout.array<T>(m), layout.array<T>(m), layout.array<T>(m),
          layout.array<double>(Pieces(n, m).n * 2 * m)};
}

template <class T>
void slopes_kernel(const KernelCall& call) {
  const auto [n, m] = Extents(call);
  if (m == 0) return;
  const T *variance = call.in[2].as<T>(), *scale = call.in[3].as<T>();
  T *of_scale = call.out[1].as<T>(), *of_shift = call.out[2].as<T>();
  const SlopeArrays<T> arrays = shared_arrays<slope_arrays<T>>(call);
  for (Dim j = 0; j < m; ++j) {
    arrays.r[j] =
        reciprocal_deviation<T>(static_cast<double>(variance[j]), call.attrs_of<EpsilonAttrs>().epsilon);
    arrays.factor[j] = scale[j] * arrays.r[j];
  }
  const ColumnSlopes<T> slopes{call.in[0].as<T>(), call.in[4].as<T>(), call.in[1].as<T>(), arrays.r,
                               arrays.factor,      arrays.mean_t,      arrays.mean_ty};
  measure_slopes(slopes, n, m, arrays.totals);
  for (Dim j = 0; j < m; ++j) {
    of_shift[j] = static_cast<T>(arrays.totals[j]);
    of_scale[j] = static_cast<T>(arrays.totals[m + j]);
  }
  write_slopes(slopes, n, m, call.out[0].as<T>());
}

Dim channels_of(const KernelCall& call) { return call.out[1].count(); }

template <class T>
void register_for(OpTable& table) {
  const auto put = [&](std::string_view name, const Kernel& kernel) {
    table.at(name).with_kernel(Backend::processor, core::dtype_of<T>, kernel);
  };
  put("batch_norm", {.name = "cpu.columns",
                     .run = values_kernel<T>,
                     .contiguous_inputs = true,
                     .in_place = true,
                     .workspace = shared_workspace<value_arrays<T>>,
                     .hands_over = channels_of});
  put("batch_norm_slopes", {.name = "cpu.columns",
                            .run = slopes_kernel<T>,
                            .contiguous_inputs = true,
                            .in_place = true,
                            .workspace = shared_workspace<slope_arrays<T>>});
}

}  // namespace

void register_batch_norm_kernels(OpTable& table) {
  register_for<float>(table);
  register_for<double>(table);
}

}  // namespace lodestone::engine::cpu_backend
