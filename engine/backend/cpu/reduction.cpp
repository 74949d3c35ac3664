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
/// Elements of rows, and columns of 64 rows, that are made at a time.
constexpr Dim elements_made_at_once = 4 * elements_of_block, columns_made_at_once = 256;

/// The array that is reduced: as it lies in memory, or as a reader makes it in a buffer.
template <class T>
class Operand {
 public:
  explicit Operand(const T* x) : x_(x) {}
  Operand(const KernelCall& call, T* buffer) : x_(call.in[0].as<T>()), reader_(call.reader), buffer_(buffer) {
    if (reader_ != nullptr) reader_->open();
  }

  [[nodiscard]] bool is_made() const { return reader_ != nullptr; }
  /// Returns n elements from one on, those of a row.
  [[nodiscard]] const T* at(Dim first, Dim n) const {
    if (reader_ == nullptr) return x_ + first;
    read(first, n, buffer_);
    return buffer_;
  }
  /// Calls visit(first element, distance of rows, number of rows, first column, number of columns) until all
  /// `columns` of the rows behind `from` were seen: at once, or 64 rows at a time.
  template <class Visit>
  void for_each_panel(Dim from, const Loop& rows, Dim columns, const Visit& visit) const {
    if (reader_ == nullptr) return visit(x_ + from, rows.in, rows.extent, Dim{0}, columns);
    for (Dim i = 0; i < rows.extent; i += rows_at_once) {
      const Dim n_rows = std::min(rows_at_once, rows.extent - i);
      for (Dim j = 0; j < columns; j += columns_made_at_once) {
        const Dim n = std::min(columns_made_at_once, columns - j), n_reads = n == rows.in ? 1 : n_rows;
        for (Dim k = 0; k < n_reads; ++k)
          read(from + (i + k) * rows.in + j, n * n_rows / n_reads, buffer_ + k * n);
        visit(static_cast<const T*>(buffer_), n, n_rows, j, n);
      }
    }
  }

 private:
  void read(Dim first, Dim n, T* to) const { reader_->read(first, n, reinterpret_cast<std::byte*>(to)); }
  const T* x_;
  const Reader* reader_ = nullptr;
  T* buffer_ = nullptr;
};

template <class Combine, class T>
[[gnu::always_inline]] inline T combine_one_block(const T* x, std::int64_t n, std::int64_t stride) {
  return combine_block(x, n, stride, Combine());
}

/// Rows one after another, each into one element of the output.
template <class Combine, class T>
[[gnu::always_inline]] inline void combine_short_rows(T* out, const Loop& rows, const T* x,
                                                      const Loop& along) {
  const Combine combine;
  for (std::int64_t r = 0; r < rows.extent; ++r) {
    T& to = out[r * rows.out];
    to = combine(to, combine_block(x + r * rows.in, along.extent, along.in, combine));
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
T combine_piece(T (*of_block)(const T*, std::int64_t, std::int64_t), const Operand<T>& x, std::int64_t first,
                std::int64_t n, std::int64_t stride) {
  if (n <= elements_of_block) return of_block(x.at(first, n), n, stride);
  if (x.is_made() && n <= elements_made_at_once)
    return combine_piece<Combine>(of_block, Operand<T>(x.at(first, n)), 0, n, stride);
  const std::int64_t half = first_half_of_row(n);
  return Combine{}(combine_piece<Combine>(of_block, x, first, half, stride),
                   combine_piece<Combine>(of_block, x, first + half * stride, n - half, stride));
}

/// Rows of more elements than a piece are made of pieces that threads share.
std::int64_t n_pieces(std::int64_t n) { return (n + elements_of_piece - 1) / elements_of_piece; }

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

/// The value of an output before anything was combined into it, which keeps its words.
template <class Combine>
struct Start;
#define LODESTONE_START(Combine, ...)                      \
  template <>                                              \
  struct Start<Combine> {                                  \
    template <class T>                                     \
    static T of() {                                        \
      return __VA_ARGS__;                                  \
    }                                                      \
    static constexpr std::string_view text = #__VA_ARGS__; \
  }
LODESTONE_START(scalar::Add, T(0));
LODESTONE_START(scalar::Maximum, cpu_backend::least<T>());
LODESTONE_START(scalar::Minimum, cpu_backend::greatest<T>());
#undef LODESTONE_START
template <class Combine, class T>
T start_of() {
  return Start<Combine>::template of<T>();
}

/// The elements that are made at a time where `order` combines them.
Dim made_at_once(const ReductionOrder& order) {
  return order.columns > 0 ? rows_at_once * std::min(order.columns, columns_made_at_once)
                           : elements_made_at_once;
}

/// The arrays of a thread: sums of columns, those of pieces of them, pieces of a row, elements that are made.
template <class Combine, class T>
struct Arrays {
  double *totals = nullptr, *sums = nullptr;
  T *parts = nullptr, *made = nullptr;
  Arrays(Layout layout, const KernelCall& call, const ReductionOrder& order) {
    const std::int64_t extent = order.reduced.back().extent;
    if (order.columns == 0) {
      if (extent > elements_of_piece) parts = layout.array<T>(n_pieces(extent));
    } else if constexpr (sums_floats<Combine, T>) {
      const std::int64_t m = n_parts<T> * order.columns;
      totals = layout.array<double>(m);
      sums = layout.array<double>(Pieces(extent, m).n * m);
    }
    if (call.reader != nullptr) made = layout.array<T>(made_at_once(order));
    bytes = layout.bytes();
  }
  std::size_t bytes;
};

/// A reduction that is under way, in its order.
template <class Combine, class T>
struct Reduction {
  const KernelCall& call;
  const ReductionOrder order;
  double ns;  ///< per element

  explicit Reduction(const KernelCall& of)
      : call(of),
        order(order_of(of.in[0].shape(), *of.in[0].strides, of.attrs_of<ReduceAttrs>().axes)),
        ns(ns_per_element + (of.reader == nullptr ? 0.0 : of.reader->ns())) {}

  [[nodiscard]] Arrays<Combine, T> arrays() const {
    return {Layout(call.scratch.of_this_thread()), call, order};
  }
  [[nodiscard]] Operand<T> operand() const {
    return {call, call.reader == nullptr ? nullptr : arrays().made};
  }
  void run() const;

 private:
  void combine_blocks() const;
  [[nodiscard]] T combine_row(const Operand<T>& x, std::int64_t first, T* parts) const;
  [[nodiscard]] T combine_all(const Operand<T>& x, std::int64_t first, T* parts) const;
  void sum_columns(const Arrays<Combine, T>& own, std::int64_t first, T* out) const;
  void combine_columns(std::int64_t first, T* out) const;
};

/// A row of any length, from an element on.
template <class Combine, class T>
T Reduction<Combine, T>::combine_row(const Operand<T>& x, std::int64_t first, T* parts) const {
  const auto of_block = Widest<combine_one_block<Combine, T>>::get();
  const auto [n, stride, _] = order.reduced.back();
  if (n <= elements_of_piece) return combine_piece<Combine>(of_block, x, first, n, stride);
  share(n_pieces(n), ns * static_cast<double>(n), [&, n = n, stride = stride](Dim begin, Dim end) {
    const Operand<T> own = operand();
    for (Dim p = begin; p < end; ++p)
      parts[p] = combine_piece<Combine>(of_block, own, first + p * elements_of_piece * stride,
                                        std::min(elements_of_piece, n - p * elements_of_piece), stride);
  });
  return combine_piece<Combine>(of_block, Operand<T>(parts), 0, n_pieces(n), 1);
}

/// Sums of floats side by side, complex ones as two; the last loop of those reduced is the kernel's.
template <class Combine, class T>
void Reduction<Combine, T>::sum_columns(const Arrays<Combine, T>& own, std::int64_t first, T* out) const {
  using Real = typename Part<T>::type;
  const Loop rows = order.reduced.back();
  const std::int64_t m = n_parts<T> * order.columns;
  const auto run = Widest<add_columns_of<Real>>::get();
  std::fill_n(own.totals, m, 0.0);
  walk(order.reduced.outer(), 0, count_of(order.reduced.outer()), [&](std::int64_t in, std::int64_t) {
    sums_of_pieces(rows.extent, m, m, ns, own.sums, [&](Dim begin, Dim end, double* total) {
      const auto add = [&](const T* x, Dim step, Dim n_rows, Dim j, Dim n) {
        run(reinterpret_cast<const Real*>(x), n_parts<T> * step, 0, n_rows, n_parts<T> * n,
            total + n_parts<T> * j);
      };
      operand().for_each_panel(first + in + begin * rows.in, {end - begin, rows.in, 0}, order.columns, add);
    });
    std::transform(own.totals, own.totals + m, own.sums, own.totals, std::plus<>());
  });
  std::transform(own.totals, own.totals + m, reinterpret_cast<Real*>(out),
                 [](double each) { return static_cast<Real>(each); });
}

/// Extrema and sums of integers side by side. Threads make elements of whole panels.
template <class Combine, class T>
void Reduction<Combine, T>::combine_columns(std::int64_t first, T* out) const {
  const auto outer = order.reduced.outer();
  const Loop rows = order.reduced.back();
  const auto run = Widest<combine_rows<Combine, T>>::get();
  const Dim columns = order.columns, unit = call.reader == nullptr ? 1 : columns_made_at_once;
  const double all_ns = ns * static_cast<double>(count_of(order.reduced.all()) * columns);
  share((columns + unit - 1) / unit, all_ns, [&](Dim begin, Dim end) {
    const Dim j0 = begin * unit, n_columns = std::min(end * unit, columns) - j0;
    const Operand<T> x = operand();
    walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
      x.for_each_panel(first + in + j0, rows, n_columns,
                       [&](const T* from, Dim step, Dim n_rows, Dim j, Dim n) {
                         run(out + j0 + j, {n_rows, step, 0}, from, n);
                       });
    });
  });
}

/// One output of everything that is reduced; several rows of floats are summed in double.
template <class Combine, class T>
T Reduction<Combine, T>::combine_all(const Operand<T>& x, std::int64_t first, T* parts) const {
  using Real = typename Part<T>::type;
  const auto outer = order.reduced.outer();
  using Wide = std::conditional_t<!sums_floats<Combine, T>, T,
                                  std::conditional_t<std::is_same_v<T, Real>, double, std::complex<double>>>;
  auto total = static_cast<Wide>(start_of<Combine, T>());
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t) {
    total = Combine{}(total, static_cast<Wide>(combine_row(x, first + in, parts)));
  });
  return static_cast<T>(total);
}

/// Outputs of which each is one block of a row.
template <class Combine, class T>
void Reduction<Combine, T>::combine_blocks() const {
  const auto outer = order.outputs.outer();
  const Loop rows = order.outputs.back(), row = order.reduced.back();
  const auto run = Widest<combine_short_rows<Combine, T>>::get();
  const double ns_of_set = ns * static_cast<double>(rows.extent * row.extent);
  walk(outer, 0, count_of(outer), [&](std::int64_t in, std::int64_t to) {
    share(rows.extent, ns_of_set, [&](Dim first, Dim last) {
      const Operand<T> x = operand();
      const Dim at_once = call.reader == nullptr ? last - first : made_at_once(order) / row.extent;
      for (Dim r = first; r < last; r += at_once) {
        const Dim n = std::min(at_once, last - r);
        run(call.out[0].as<T>() + to + r * rows.out, {n, rows.in, rows.out},
            x.at(in + r * rows.in, n * row.extent), row);
      }
    });
  });
}

template <class Combine, class T>
void Reduction<Combine, T>::run() const {
  using Kind = ReductionOrder::Kind;
  if (order.kind == Kind::rows) return combine_blocks();
  share(count_of(order.outputs.all()), ns * static_cast<double>(call.in[0].count()),
        [&](Dim first, Dim last) {
          const Arrays<Combine, T> own = arrays();
          const Operand<T> x(call, own.made);
          walk(order.outputs.all(), first, last, [&](std::int64_t in, std::int64_t to) {
            T* const out = call.out[0].as<T>() + to;
            if (order.kind != Kind::columns) {
              *out = combine_all(x, in, own.parts);
            } else if constexpr (sums_floats<Combine, T>) {
              sum_columns(own, in, out);
            } else {
              combine_columns(in, out);
            }
          });
        });
}

template <class Combine, class T>
Workspace workspace(const KernelCall& call) {
  if (call.in[0].count() == 0) return {};
  return {.per_thread = Arrays<Combine, T>(Layout(), call, Reduction<Combine, T>(call).order).bytes};
}

template <class Combine, class T>
void reduce(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), start_of<Combine, T>());
  if (call.in[0].count() > 0) Reduction<Combine, T>(call).run();
}

/// Reduces rows without gaps, of one block each.
template <class Combine, class T>
void reduce_rows(const std::byte* x, std::int64_t n_rows, std::int64_t n, std::byte* out) {
  T* const to = reinterpret_cast<T*>(out);
  std::fill_n(to, n_rows, start_of<Combine, T>());
  Widest<combine_short_rows<Combine, T>>::get()(to, {n_rows, n, 1}, reinterpret_cast<const T*>(x), {n, 1, 0});
}

template <class Combine, class T>
constexpr RowBody row_body{reduce_rows<Combine, T>, elements_of_block, ns_per_element, Combine::text,
                           Start<Combine>::text};

/// Registers a reduction that combines elements of T.
template <class Combine, class T>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.rows",
                   .run = reduce<Combine, T>,
                   .reads_once = true,
                   .workspace = workspace<Combine, T>,
                   .row_body = &row_body<Combine, T>});
}

}  // namespace

void register_reduction_kernels(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, bool>) put<scalar::Add, T>(table.at("sum"));
      if constexpr (!scalar::is_complex_v<T> && !std::is_same_v<T, bool>) {
        put<scalar::Maximum, T>(table.at("max"));
        put<scalar::Minimum, T>(table.at("min"));
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
