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

namespace lodestone::engine::cpu_backend {
namespace {

constexpr std::int64_t block = 1024;
constexpr double ns_per_element = 0.2;

/// An axis of the input: how far its elements are apart there and in the output (0: reduced).
struct Loop {
  std::int64_t extent, in, out;
};

/// Some loops, outermost first; an axis each at most.
class Loops {
 public:
  void push_back(const Loop& loop) { all_[n_++] = loop; }
  void pop_back() { --n_; }
  [[nodiscard]] bool empty() const { return n_ == 0; }
  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] Loop& back() { return all_[n_ - 1]; }
  [[nodiscard]] const Loop& back() const { return all_[n_ - 1]; }
  [[nodiscard]] std::span<const Loop> all() const { return {all_.data(), n_}; }
  /// Returns all but the innermost.
  [[nodiscard]] std::span<const Loop> outer() const { return {all_.data(), n_ - 1}; }

 private:
  std::array<Loop, Shape::max_size + 1> all_;
  std::size_t n_ = 0;
};

/// The input's axes, outermost first, extent 1 dropped and neighbours merged where input and output allow it.
Loops loops_of(const KernelCall& call) {
  const Axes& reduced = call.attrs_of<ReduceAttrs>().axes;
  Loops loops;
  int kept = 0;
  for (int axis = 0; axis < call.in[0].shape().rank(); ++axis) {
    const bool is_reduced = reduced.contains(axis);
    const Loop loop{call.in[0].shape()[axis], (*call.in[0].strides)[axis],
                    is_reduced ? 0 : (*call.out[0].strides)[kept]};
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

/// Rows of more elements are made of pieces that threads share.
constexpr std::int64_t longest_piece = 64 * block;
std::int64_t n_pieces(std::int64_t n) { return (n + longest_piece - 1) / longest_piece; }

/// A row of any length; `parts` has an element for each piece.
template <class Combine, class T>
T combine_long_row(const T* x, std::int64_t n, std::int64_t stride, T* parts) {
  const auto of_block = Widest<combine_block<Combine, T>>::get();
  if (n <= longest_piece) return combine_row<Combine>(of_block, x, n, stride);
  share(n_pieces(n), ns_per_element * static_cast<double>(n), [&](Dim first, Dim last) {
    for (Dim p = first; p < last; ++p)
      parts[p] = combine_row<Combine>(of_block, x + p * longest_piece * stride,
                                      std::min(longest_piece, n - p * longest_piece), stride);
  });
  return combine_row<Combine>(of_block, parts, n_pieces(n), 1);
}

/// The loops of a reduction: over outputs one by one, over what is reduced into each, and, with 1 element or
/// more, over outputs side by side.
struct Plan {
  Loops outputs, reduced;
  std::int64_t columns = 0;
};

Plan plan_of(const KernelCall& call) {
  Plan plan;
  const Loops loops = loops_of(call);
  for (const Loop& loop : loops.all()) (loop.out == 0 ? plan.reduced : plan.outputs).push_back(loop);
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
template <class T>
inline constexpr std::int64_t n_parts = sizeof(T) / sizeof(typename Part<T>::type);

/// The arrays of a thread: sums of columns, those of pieces of them, pieces of a row.
template <class Combine, class T>
struct Arrays {
  double *totals = nullptr, *sums = nullptr;
  T* parts = nullptr;
  Arrays(Layout& layout, const Plan& plan) {
    const std::int64_t extent = plan.reduced.back().extent;
    if (plan.columns == 0) {
      if (extent > longest_piece) parts = layout.array<T>(n_pieces(extent));
    } else if constexpr (sums_floats<Combine, T>) {
      const std::int64_t m = n_parts<T> * plan.columns;
      totals = layout.array<double>(m);
      sums = layout.array<double>(Pieces(extent, m).n * m);
    }
  }
};

/// Sums of floats side by side, complex ones as two; the last loop of those reduced is the kernel's.
template <class T>
void sum_columns(const Plan& plan, const T* x, T* out, const Arrays<scalar::Add, T>& arrays) {
  using Real = typename Part<T>::type;
  const Loop rows = plan.reduced.back();
  const std::int64_t m = n_parts<T> * plan.columns;
  const auto run = Widest<add_columns_of<Real>>::get();
  std::fill_n(arrays.totals, m, 0.0);
  walk(plan.reduced.outer(), 0, count_of(plan.reduced.outer()), [&](std::int64_t in, std::int64_t) {
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
void combine_columns(const Plan& plan, const T* x, T* out) {
  const auto outer = plan.reduced.outer();
  const Loop rows = plan.reduced.back();
  const auto run = Widest<combine_rows<Combine, T>>::get();
  const double ns = ns_per_element * static_cast<double>(count_of(plan.reduced.all()) * plan.columns);
  share(plan.columns, ns, [&](Dim first, Dim last) {
    walk(outer, 0, count_of(outer),
         [&](std::int64_t in, std::int64_t) { run(out + first, rows, x + in + first, last - first); });
  });
}

/// One output of everything that is reduced; several rows of floats are summed in double.
template <class Combine, class T>
T combine_all(const Plan& plan, const T* x, T start, T* parts) {
  using Real = typename Part<T>::type;
  const auto outer = plan.reduced.outer();
  const Loop row = plan.reduced.back();
  using Wide = std::conditional_t<!sums_floats<Combine, T>, T,
                                  std::conditional_t<std::is_same_v<T, Real>, double, std::complex<double>>>;
  auto total = static_cast<Wide>(start);
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
    total = Combine{}(total, static_cast<Wide>(combine_long_row<Combine>(x + in, row.extent, row.in, parts)));
  });
  return static_cast<T>(total);
}

/// True where rows that are short go one after another.
bool goes_in_rows(const Plan& plan) {
  return plan.columns == 0 && plan.reduced.size() == 1 && plan.reduced.back().extent <= block &&
         !plan.outputs.empty();
}

template <class Combine, class T>
Workspace workspace(const KernelCall& call) {
  Layout layout;
  static_cast<void>(Arrays<Combine, T>(layout, plan_of(call)));
  return {.per_thread = layout.bytes()};
}

template <class Combine, class T>
void reduce(const KernelCall& call, T start) {
  const T* x = call.in[0].as<T>();
  T* out = call.out[0].as<T>();
  std::fill_n(out, call.out[0].count(), start);
  if (call.in[0].count() == 0) return;
  const Plan plan = plan_of(call);
  const double ns = ns_per_element * static_cast<double>(call.in[0].count());
  if (goes_in_rows(plan)) {
    const auto outer = plan.outputs.outer();
    const Loop rows = plan.outputs.back();
    const auto run = Widest<combine_short_rows<Combine, T>>::get();
    walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t to) {
      share(rows.extent, ns / static_cast<double>(count_of(outer)), [&](Dim first, Dim last) {
        run(out + to + first * rows.out, {last - first, rows.in, rows.out}, x + in + first * rows.in,
            plan.reduced.back());
      });
    });
    return;
  }
  share(count_of(plan.outputs.all()), ns, [&](Dim first, Dim last) {
    Layout own(call.scratch.of_this_thread());
    const Arrays<Combine, T> arrays(own, plan);
    walk(plan.outputs.all(), first, last, [&](std::int64_t in, std::int64_t to) {
      if (plan.columns == 0) {
        out[to] = combine_all<Combine>(plan, x + in, start, arrays.parts);
      } else if constexpr (sums_floats<Combine, T>) {
        sum_columns(plan, x + in, out + to, arrays);
      } else {
        combine_columns<Combine>(plan, x + in, out + to);
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
