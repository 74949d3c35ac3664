// SPDX-License-Identifier: Apache-2.0
// Sums and extrema over any axes, in the order that reduction_order.hpp states: the same bits on every vector
// width and number of threads.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/reduction_order.hpp"
#include "engine/backend/cpu/sums.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <functional>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr double ns_per_element = 0.2;

template <class Combine, class T>
[[gnu::always_inline]] inline T combine_block(const T* x, std::int64_t n, std::int64_t stride) {
  const Combine combine;
  if (n < 2 * n_lanes) {
    T total = x[0];
    for (std::int64_t i = 1; i < n; ++i) total = combine(total, x[i * stride]);
    return total;
  }
  T lanes[n_lanes];
  for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = x[k * stride];
  const std::int64_t whole = n / n_lanes * n_lanes;
  if (stride == 1) {
    for (std::int64_t i = n_lanes; i < whole; i += n_lanes) {
      for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = combine(lanes[k], x[i + k]);
    }
  } else {
    for (std::int64_t i = n_lanes; i < whole; i += n_lanes) {
      for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = combine(lanes[k], x[(i + k) * stride]);
    }
  }
  for (std::int64_t i = whole; i < n; ++i) lanes[i - whole] = combine(lanes[i - whole], x[i * stride]);
  return of_lanes(lanes, combine);
}

/// Rows one after another, each into one element of the output.
template <class Combine, class T>
[[gnu::always_inline]] inline void combine_short_rows(T* out, const Loop& rows, const T* x,
                                                      const Loop& along) {
  const Combine combine;
  for (std::int64_t r = 0; r < rows.extent; ++r) {
    T& to = out[r * rows.out];
    to = combine(to, combine_block<Combine>(x + r * rows.in, along.extent, along.in));
  }
}

/// out[j] = combine(out[j], x[j]) of n columns, row after row.
template <class Combine, class T>
[[gnu::always_inline]] inline void combine_rows(T* out, const Loop& rows, const T* x, std::int64_t n) {
  const Combine combine;
  for (std::int64_t r = 0; r < rows.extent; ++r, x += rows.in) {
    for (std::int64_t j = 0; j < n; ++j) out[j] = combine(out[j], x[j]);
  }
}

/// Columns of rows that start `step` apart.
template <class T>
[[gnu::always_inline]] inline void add_columns_of(const T* x, Dim step, Dim first, Dim last, Dim m,
                                                  double* total) {
  add_columns<T>(
      first, last, step, m,
      total, [x](auto load, Dim at, Dim) __attribute__((always_inline)) { return load(x + at); });
}

/// A piece of a row: blocks combined in pairs.
template <class Combine, class T>
T combine_piece(T (*of_block)(const T*, std::int64_t, std::int64_t), const T* x, std::int64_t n,
                std::int64_t stride) {
  if (n <= elements_of_block) return of_block(x, n, stride);
  const std::int64_t half = first_half_of_row(n);
  return Combine{}(combine_piece<Combine>(of_block, x, half, stride),
                   combine_piece<Combine>(of_block, x + half * stride, n - half, stride));
}

/// Rows of more elements than a piece are made of pieces that threads share.
std::int64_t n_pieces(std::int64_t n) { return (n + elements_of_piece - 1) / elements_of_piece; }

/// A row of any length; `parts` has an element for each piece.
template <class Combine, class T>
T combine_row(const T* x, std::int64_t n, std::int64_t stride, T* parts) {
  const auto of_block = Widest<combine_block<Combine, T>>::get();
  if (n <= elements_of_piece) return combine_piece<Combine>(of_block, x, n, stride);
  share(n_pieces(n), ns_per_element * static_cast<double>(n), [&](Dim first, Dim last) {
    for (Dim p = first; p < last; ++p)
      parts[p] = combine_piece<Combine>(of_block, x + p * elements_of_piece * stride,
                                        std::min(elements_of_piece, n - p * elements_of_piece), stride);
  });
  return combine_piece<Combine>(of_block, parts, n_pieces(n), 1);
}

template <class T>
struct Part {
  using type = T;
};
template <class T>
struct Part<std::complex<T>> {
  using type = T;
};
template <class Combine, class T>
inline constexpr bool sums_floats =
    std::is_same_v<Combine, scalar::Add>&& std::is_floating_point_v<typename Part<T>::type>;
template <class T>
inline constexpr std::int64_t n_parts = sizeof(T) / sizeof(typename Part<T>::type);

/// The arrays of a thread: sums of columns, those of pieces of them, pieces of a row.
template <class Combine, class T>
struct Arrays {
  double *totals = nullptr, *sums = nullptr;
  T* parts = nullptr;
  Arrays(Layout& layout, const ReductionOrder& order) {
    const std::int64_t extent = order.reduced.back().extent;
    if (order.columns == 0) {
      if (extent > elements_of_piece) parts = layout.array<T>(n_pieces(extent));
    } else if constexpr (sums_floats<Combine, T>) {
      const std::int64_t m = n_parts<T> * order.columns;
      totals = layout.array<double>(m);
      sums = layout.array<double>(Pieces(extent, m).n * m);
    }
  }
};

/// Sums of floats side by side, complex ones as two; the last loop of those reduced is the kernel's.
template <class T>
void sum_columns(const ReductionOrder& order, const T* x, T* out, const Arrays<scalar::Add, T>& arrays) {
  using Real = typename Part<T>::type;
  const Loop rows = order.reduced.back();
  const std::int64_t m = n_parts<T> * order.columns;
  const auto run = Widest<add_columns_of<Real>>::get();
  std::fill_n(arrays.totals, m, 0.0);
  walk(order.reduced.outer(), 0, count_of(order.reduced.outer()), [&](std::int64_t in, std::int64_t) {
    const Real* from = reinterpret_cast<const Real*>(x + in);
    sums_of_pieces(rows.extent, m, m, ns_per_element, arrays.sums, [&](Dim first, Dim last, double* total) {
      run(from, n_parts<T> * rows.in, first, last, m, total);
    });
    std::transform(arrays.totals, arrays.totals + m, arrays.sums, arrays.totals, std::plus<>());
  });
  std::transform(arrays.totals, arrays.totals + m, reinterpret_cast<Real*>(out),
                 [](double each) { return static_cast<Real>(each); });
}

/// Extrema and sums of integers side by side.
template <class Combine, class T>
void combine_columns(const ReductionOrder& order, const T* x, T* out) {
  const auto outer = order.reduced.outer();
  const Loop rows = order.reduced.back();
  const auto run = Widest<combine_rows<Combine, T>>::get();
  const double ns = ns_per_element * static_cast<double>(count_of(order.reduced.all()) * order.columns);
  share(order.columns, ns, [&](Dim first, Dim last) {
    walk(outer, 0, count_of(outer),
         [&](std::int64_t in, std::int64_t) { run(out + first, rows, x + in + first, last - first); });
  });
}

/// One output of everything that is reduced; several rows of floats are summed in double.
template <class Combine, class T>
T combine_all(const ReductionOrder& order, const T* x, T start, T* parts) {
  using Real = typename Part<T>::type;
  const auto outer = order.reduced.outer();
  const Loop row = order.reduced.back();
  using Wide = std::conditional_t<!sums_floats<Combine, T>, T,
                                  std::conditional_t<std::is_same_v<T, Real>, double, std::complex<double>>>;
  auto total = static_cast<Wide>(start);
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
    total = Combine{}(total, static_cast<Wide>(combine_row<Combine>(x + in, row.extent, row.in, parts)));
  });
  return static_cast<T>(total);
}

/// Outputs of which each is one block of a row.
template <class Combine, class T>
void combine_blocks(const ReductionOrder& order, const T* x, T* out, double ns) {
  const auto outer = order.outputs.outer();
  const Loop rows = order.outputs.back();
  const auto run = Widest<combine_short_rows<Combine, T>>::get();
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t to) {
    share(rows.extent, ns / static_cast<double>(count_of(outer)), [&](Dim first, Dim last) {
      run(out + to + first * rows.out, {last - first, rows.in, rows.out}, x + in + first * rows.in,
          order.reduced.back());
    });
  });
}

ReductionOrder order_of_call(const KernelCall& call) {
  return order_of(call.in[0].shape(), *call.in[0].strides, call.attrs_of<ReduceAttrs>().axes);
}

template <class Combine, class T>
Workspace workspace(const KernelCall& call) {
  Layout layout;
  if (call.in[0].count() > 0) static_cast<void>(Arrays<Combine, T>(layout, order_of_call(call)));
  return {.per_thread = layout.bytes()};
}

template <class Combine, class T>
void reduce(const KernelCall& call, T start) {
  using Kind = ReductionOrder::Kind;
  const T* x = call.in[0].as<T>();
  T* out = call.out[0].as<T>();
  std::fill_n(out, call.out[0].count(), start);
  if (call.in[0].count() == 0) return;
  const ReductionOrder order = order_of_call(call);
  const double ns = ns_per_element * static_cast<double>(call.in[0].count());
  if (order.kind == Kind::rows) return combine_blocks<Combine>(order, x, out, ns);
  share(count_of(order.outputs.all()), ns, [&](Dim first, Dim last) {
    Layout own(call.scratch.of_this_thread());
    const Arrays<Combine, T> arrays(own, order);
    walk(order.outputs.all(), first, last, [&](std::int64_t in, std::int64_t to) {
      if (order.kind != Kind::columns) {
        out[to] = combine_all<Combine>(order, x + in, start, arrays.parts);
      } else if constexpr (sums_floats<Combine, T>) {
        sum_columns(order, x + in, out + to, arrays);
      } else {
        combine_columns<Combine>(order, x + in, out + to);
      }
    });
  });
}

/// Registers a reduction that combines elements of T.
template <class Combine, class T>
void put(OpInfo& row, void (*run)(const KernelCall&)) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.rows", .run = run, .workspace = workspace<Combine, T>});
}

template <class T>
void sum_kernel(const KernelCall& call) {
  reduce<scalar::Add, T>(call, T(0));
}
template <class T>
void max_kernel(const KernelCall& call) {
  using Limits = std::numeric_limits<T>;
  reduce<scalar::Maximum, T>(call,
                             Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
}
template <class T>
void min_kernel(const KernelCall& call) {
  using Limits = std::numeric_limits<T>;
  reduce<scalar::Minimum, T>(call, Limits::has_infinity ? Limits::infinity() : Limits::max());
}

}  // namespace

void register_reduction_kernels(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, bool>) put<scalar::Add, T>(table.at("sum"), sum_kernel<T>);
      if constexpr (!scalar::is_complex_v<T> && !std::is_same_v<T, bool>) {
        put<scalar::Maximum, T>(table.at("max"), max_kernel<T>);
        put<scalar::Minimum, T>(table.at("min"), min_kernel<T>);
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
