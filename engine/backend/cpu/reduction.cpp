// SPDX-License-Identifier: Apache-2.0
// Sums and extrema over any axes. Every output is a row of its own, summed in 16 lanes and blocks of fixed
// size that are combined in pairs; or outputs lie side by side and rows of them are combined, sums of floats
// by sums.hpp. Either way the same bits on every vector width and number of threads.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/sums.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr std::int64_t block = 1024;
constexpr double ns_per_element = 0.2;

/// An axis of the input: how far its elements are apart there and in the output (0: reduced).
struct Loop {
  std::int64_t extent, in, out;
};

/// The input's axes, outermost first, extent 1 dropped and neighbours merged where input and output allow it.
std::vector<Loop> loops_of(const KernelCall& call) {
  const Axes& reduced = call.attrs_of<ReduceAttrs>().axes;
  std::vector<Loop> loops;
  int kept = 0;
  for (int axis = 0; axis < call.in[0].shape().rank(); ++axis) {
    const bool is_reduced = reduced.contains(axis);
    const Loop loop{call.in[0].shape()[axis], (*call.in[0].strides)[axis],
                    is_reduced ? 0 : (*call.out.strides)[kept]};
    kept += is_reduced ? 0 : 1;
    if (loop.extent == 1) continue;
    const bool same_kind = !loops.empty() && (loops.back().out == 0) == (loop.out == 0);
    if (same_kind && loops.back().in == loop.in * loop.extent && loops.back().out == loop.out * loop.extent) {
      loops.back() = {loops.back().extent * loop.extent, loop.in, loop.out};
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.empty()) loops.push_back({1, 1, 0});
  return loops;
}

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

/// A whole row: blocks combined in pairs.
template <class Combine, class T>
T combine_row(T (*of_block)(const T*, std::int64_t, std::int64_t), const T* x, std::int64_t n,
              std::int64_t stride) {
  if (n <= block) return of_block(x, n, stride);
  const std::int64_t half = (n / block + 1) / 2 * block;
  return Combine{}(combine_row<Combine>(of_block, x, half, stride),
                   combine_row<Combine>(of_block, x + half * stride, n - half, stride));
}

/// A row so long that threads share its pieces.
template <class Combine, class T>
T combine_long_row(const T* x, std::int64_t n, std::int64_t stride) {
  constexpr std::int64_t piece = 64 * block;
  const auto of_block = Widest<combine_block<Combine, T>>::get();
  if (n <= piece) return combine_row<Combine>(of_block, x, n, stride);
  const std::int64_t pieces = (n + piece - 1) / piece;
  std::vector<T> parts(static_cast<std::size_t>(pieces));
  share(pieces, ns_per_element * static_cast<double>(n), [&](Dim first, Dim last) {
    for (Dim p = first; p < last; ++p)
      parts[static_cast<std::size_t>(p)] =
          combine_row<Combine>(of_block, x + p * piece * stride, std::min(piece, n - p * piece), stride);
  });
  return combine_row<Combine>(of_block, parts.data(), pieces, 1);
}

/// The loops of a reduction: over outputs one by one, over what is reduced into each, and, with 1 element or
/// more, over outputs side by side.
struct Plan {
  std::vector<Loop> outputs, reduced;
  std::int64_t columns = 0;
};

Plan plan_of(const KernelCall& call) {
  Plan plan;
  for (const Loop& loop : loops_of(call)) (loop.out == 0 ? plan.reduced : plan.outputs).push_back(loop);
  if (!plan.outputs.empty() && plan.outputs.back().in == 1) {
    plan.columns = plan.outputs.back().extent;
    plan.outputs.pop_back();
  }
  if (plan.reduced.empty()) plan.reduced.push_back({1, 0, 0});
  return plan;
}

std::int64_t count_of(std::span<const Loop> loops) {
  std::int64_t product = 1;
  for (const Loop& loop : loops) product *= loop.extent;
  return product;
}

/// f(offset in the input, offset in the output) of steps first … last − 1 through loops.
template <class F>
void walk(std::span<const Loop> loops, std::int64_t first, std::int64_t last, F&& f) {
  for (std::int64_t i = first; i < last; ++i) {
    std::int64_t rest = i, in = 0, out = 0;
    for (std::size_t k = loops.size(); k-- > 0; rest /= loops[k].extent) {
      in += rest % loops[k].extent * loops[k].in;
      out += rest % loops[k].extent * loops[k].out;
    }
    f(in, out);
  }
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

/// Sums of floats side by side, complex ones as two; the last loop of those reduced is the kernel's.
template <class T>
void sum_columns(const Plan& plan, const T* x, T* out) {
  using Real = typename Part<T>::type;
  constexpr std::int64_t parts = sizeof(T) / sizeof(Real);
  const std::span outer(plan.reduced.data(), plan.reduced.size() - 1);
  const Loop rows = plan.reduced.back();
  const std::int64_t m = parts * plan.columns;
  const auto run = Widest<add_columns_of<Real>>::get();
  std::vector<double> totals;
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
    const Real* from = reinterpret_cast<const Real*>(x + in);
    auto sums = sums_of_pieces(rows.extent, m, m, ns_per_element, [&](Dim first, Dim last, double* total) {
      run(from, parts * rows.in, first, last, m, total);
    });
    if (totals.empty()) {
      totals = std::move(sums);
    } else {
      std::transform(sums.begin(), sums.end(), totals.begin(), totals.begin(), std::plus<>());
    }
  });
  std::transform(totals.begin(), totals.end(), reinterpret_cast<Real*>(out),
                 [](double each) { return static_cast<Real>(each); });
}

/// Extrema and sums of integers side by side.
template <class Combine, class T>
void combine_columns(const Plan& plan, const T* x, T* out) {
  const std::span outer(plan.reduced.data(), plan.reduced.size() - 1);
  const Loop rows = plan.reduced.back();
  const auto run = Widest<combine_rows<Combine, T>>::get();
  const double ns = ns_per_element * static_cast<double>(count_of(plan.reduced) * plan.columns);
  share(plan.columns, ns, [&](Dim first, Dim last) {
    walk(outer, 0, count_of(outer),
         [&](std::int64_t in, std::int64_t) { run(out + first, rows, x + in + first, last - first); });
  });
}

/// One output of everything that is reduced; several rows of floats are summed in double.
template <class Combine, class T>
T combine_all(const Plan& plan, const T* x, T start) {
  using Real = typename Part<T>::type;
  const std::span outer(plan.reduced.data(), plan.reduced.size() - 1);
  const Loop row = plan.reduced.back();
  using Wide = std::conditional_t<!sums_floats<Combine, T>, T,
                                  std::conditional_t<std::is_same_v<T, Real>, double, std::complex<double>>>;
  auto total = static_cast<Wide>(start);
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
    total = Combine{}(total, static_cast<Wide>(combine_long_row<Combine>(x + in, row.extent, row.in)));
  });
  return static_cast<T>(total);
}

template <class Combine, class T>
void reduce(const KernelCall& call, T start) {
  const T* x = call.in[0].as<T>();
  T* out = call.out.as<T>();
  std::fill_n(out, call.out.count(), start);
  if (call.in[0].count() == 0) return;
  const Plan plan = plan_of(call);
  const double ns = ns_per_element * static_cast<double>(call.in[0].count());
  const bool in_rows = plan.columns == 0 && plan.reduced.size() == 1 && plan.reduced[0].extent <= block &&
                       !plan.outputs.empty();
  if (in_rows) {
    const std::span outer(plan.outputs.data(), plan.outputs.size() - 1);
    const Loop rows = plan.outputs.back();
    const auto run = Widest<combine_short_rows<Combine, T>>::get();
    walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t to) {
      share(rows.extent, ns / static_cast<double>(count_of(outer)), [&](Dim first, Dim last) {
        run(out + to + first * rows.out, {last - first, rows.in, rows.out}, x + in + first * rows.in,
            plan.reduced[0]);
      });
    });
    return;
  }
  share(count_of(plan.outputs), ns, [&](Dim first, Dim last) {
    walk(plan.outputs, first, last, [&](std::int64_t in, std::int64_t to) {
      if (plan.columns == 0) {
        out[to] = combine_all<Combine>(plan, x + in, start);
      } else if constexpr (sums_floats<Combine, T>) {
        sum_columns(plan, x + in, out + to);
      } else {
        combine_columns<Combine>(plan, x + in, out + to);
      }
    });
  });
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
      if constexpr (!std::is_same_v<T, bool>)
        table.at("sum").with_kernel(Backend::processor, dtype, {"cpu.rows", sum_kernel<T>});
      if constexpr (!scalar::is_complex_v<T> && !std::is_same_v<T, bool>) {
        table.at("max").with_kernel(Backend::processor, dtype, {"cpu.rows", max_kernel<T>});
        table.at("min").with_kernel(Backend::processor, dtype, {"cpu.rows", min_kernel<T>});
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
