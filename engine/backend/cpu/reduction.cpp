// SPDX-License-Identifier: Apache-2.0
// Sums and extrema over any axes: either the innermost axis is reduced, row by row, or rows are combined into the output element by element.
// A row is summed in 16 lanes and blocks of fixed size, combined in pairs: the same bits on every vector width.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

constexpr std::int64_t n_lanes = 16;
constexpr std::int64_t block = 1024;

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
    const Loop loop{call.in[0].shape()[axis], (*call.in[0].strides)[axis], is_reduced ? 0 : (*call.out.strides)[kept]};
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
  for (std::int64_t width = n_lanes / 2; width > 0; width /= 2) {
    for (std::int64_t k = 0; k < width; ++k) lanes[k] = combine(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

/// out[j] = combine(out[j], x[j]) of a row.
template <class Combine, class T>
[[gnu::always_inline]] inline void combine_rows(T* out, std::int64_t out_stride, const T* x, std::int64_t stride, std::int64_t n) {
  const Combine combine;
  if (out_stride == 1 && stride == 1) {
    for (std::int64_t j = 0; j < n; ++j) out[j] = combine(out[j], x[j]);
  } else {
    for (std::int64_t j = 0; j < n; ++j) out[j * out_stride] = combine(out[j * out_stride], x[j * stride]);
  }
}

/// A whole row: blocks combined in pairs.
template <class Combine, class T>
T combine_row(T (*of_block)(const T*, std::int64_t, std::int64_t), const T* x, std::int64_t n, std::int64_t stride) {
  if (n <= block) return of_block(x, n, stride);
  const std::int64_t half = (n / block + 1) / 2 * block;
  return Combine{}(combine_row<Combine>(of_block, x, half, stride), combine_row<Combine>(of_block, x + half * stride, n - half, stride));
}

/// Sums over outer axes: what a part of the output has gathered over some steps is carried on in double, so that many small numbers are not lost in a large
/// one. Other types and extrema need no carry.
template <class Combine, class T>
class Carry {
 public:
  static constexpr bool needed =
      std::is_same_v<Combine, scalar::Add> && (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>);
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, std::complex<double>>;
  static constexpr std::int64_t steps = 64;

  explicit Carry(std::size_t size) : total_(needed ? size : 0) {}
  void take(T* part) {
    if constexpr (needed) {
      for (std::size_t j = 0; j < total_.size(); ++j) {
        total_[j] += Wide(part[j]);
        part[j] = T(0);
      }
    }
  }
  void give(T* part) {
    if constexpr (needed) {
      for (std::size_t j = 0; j < total_.size(); ++j) {
        part[j] = static_cast<T>(total_[j] + Wide(part[j]));
        total_[j] = Wide(0);
      }
    }
  }

 private:
  std::vector<Wide> total_;
};

/// The outermost reduced axis that is not the innermost loop; the number of loops if there is none.
std::size_t outer_reduced(const std::vector<Loop>& loops) {
  for (std::size_t k = 0; k + 1 < loops.size(); ++k) {
    if (loops[k].out == 0) return k;
  }
  return loops.size();
}

template <class Combine, class T>
void reduce(const KernelCall& call, T start) {
  const auto of_block = Widest<combine_block<Combine, T>>::get();
  const auto of_rows = Widest<combine_rows<Combine, T>>::get();
  T* out = call.out.as<T>();
  std::fill_n(out, call.out.count(), start);
  if (call.in[0].count() == 0) return;
  const std::vector<Loop> loops = loops_of(call);
  const Loop inner = loops.back();
  std::vector<std::int64_t> index(loops.size(), 0);
  std::int64_t rows = 1, from = 0, to = 0;
  for (std::size_t k = 0; k + 1 < loops.size(); ++k) rows *= loops[k].extent;
  // The part of the output, and the rows, that belong to one run through the outermost reduced axis.
  const std::size_t reduced = outer_reduced(loops);
  std::int64_t part = 1, rows_of_part = 1;
  for (std::size_t k = reduced; k < loops.size(); ++k) {
    part *= loops[k].out == 0 ? 1 : loops[k].extent;
    rows_of_part *= k + 1 < loops.size() ? loops[k].extent : 1;
  }
  const std::int64_t rows_of_carry = reduced < loops.size() ? Carry<Combine, T>::steps * rows_of_part / loops[reduced].extent : 0;
  std::int64_t rows_done = 0, rows_left = rows_of_carry;
  T* first = out;
  Carry<Combine, T> carry(reduced < loops.size() ? static_cast<std::size_t>(part) : 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* x = call.in[0].as<T>() + from;
    if (inner.out == 0) {
      out[to] = Combine{}(out[to], combine_row<Combine>(of_block, x, inner.extent, inner.in));
    } else {
      of_rows(out + to, inner.out, x, inner.in, inner.extent);
    }
    if (Carry<Combine, T>::needed && reduced < loops.size()) {
      if (++rows_done == rows_of_part) {
        carry.give(first);
        first += part;
        rows_done = 0;
        rows_left = rows_of_carry;
      } else if (--rows_left == 0) {
        carry.take(first);
        rows_left = rows_of_carry;
      }
    }
    for (std::size_t k = loops.size() - 1; k-- > 0;) {
      from += loops[k].in;
      to += loops[k].out;
      if (++index[k] < loops[k].extent) break;
      from -= loops[k].extent * loops[k].in;
      to -= loops[k].extent * loops[k].out;
      index[k] = 0;
    }
  }
}

template <class T>
void sum_kernel(const KernelCall& call) {
  reduce<scalar::Add, T>(call, T(0));
}
template <class T>
void max_kernel(const KernelCall& call) {
  using Limits = std::numeric_limits<T>;
  reduce<scalar::Maximum, T>(call, Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
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
      if constexpr (!std::is_same_v<T, bool>) table.at("sum").with_kernel(Backend::processor, dtype, {"cpu.rows", sum_kernel<T>});
      if constexpr (!scalar::is_complex_v<T> && !std::is_same_v<T, bool>) {
        table.at("max").with_kernel(Backend::processor, dtype, {"cpu.rows", max_kernel<T>});
        table.at("min").with_kernel(Backend::processor, dtype, {"cpu.rows", min_kernel<T>});
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
