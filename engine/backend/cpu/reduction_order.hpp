// SPDX-License-Identifier: Apache-2.0
// The order in which a reduction combines its elements. It follows from shape, strides and axes alone, never
// from the instruction set or the number of threads, so that whoever keeps to it gets the same bits.
#pragma once

#include "engine/backend/cpu/row_order.hpp"
#include "engine/graph/shape.hpp"

namespace lodestone::engine::cpu_backend {

/// A piece of a row has so many elements; what the pieces give is a row again.
inline constexpr std::int64_t elements_of_piece = 64 * elements_of_block;
/// The blocks of a piece are combined in pairs: this many elements first, then the others, both halves in the
/// same way. n: more than a block.
[[nodiscard]] inline std::int64_t first_half_of_row(std::int64_t n) {
  return (n / elements_of_block + 1) / 2 * elements_of_block;
}

/// Columns of floats are summed over so many rows in the working precision, every fourth row by itself. Those
/// sums are added in double: (first + second) + (third + fourth).
inline constexpr Dim rows_at_once = 64;
/// The pieces of n rows of m numbers, each about 16 384; what they give is added up in turn. A complex number
/// counts as two.
struct Pieces {
  Dim n, rows;  ///< their number, and the rows of each but the last
  Pieces(Dim n_rows, Dim m) {
    constexpr Dim numbers_of_piece = 1 << 14;
    rows = std::max<Dim>(numbers_of_piece / std::max<Dim>(m, 1) / rows_at_once, 1) * rows_at_once;
    n = std::max<Dim>((n_rows + rows - 1) / rows, 1);
  }
};

/// One loop over an input, or several that became one: its elements, how far apart they are there and in the
/// output (0: they are combined).
struct Loop {
  std::int64_t extent, in, out;
};

/// Loops one inside the other, the outermost first; none: one step.
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
  std::array<Loop, Shape::max_size> all_;
  std::size_t n_ = 0;
};

/// Returns the number of steps through loops.
[[nodiscard]] inline std::int64_t count_of(std::span<const Loop> loops) {
  std::int64_t product = 1;
  for (const Loop& loop : loops) product *= loop.extent;
  return product;
}

/// Calls f(offset in the input, offset in the output) for steps first … last − 1 through loops.
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

/// States which elements are combined into each output, and how. An output begins with the start value of the
/// reduction.
struct ReductionOrder {
  enum class Kind : std::uint8_t {
    rows,      ///< one block of a row, in lanes
    columns,   ///< outputs lie side by side, and so do the rows that are combined into them: sums of floats
               ///< by 64 rows, of each loop around them in turn, in double; the others row after row
    long_row,  ///< one row of several blocks
    all        ///< rows one after another, each as a long row; sums of floats are added up in double
  };
  Kind kind = Kind::rows;
  Loops outputs;             ///< over outputs one by one, at least one loop, or over sets of columns
  Loops reduced;             ///< over what is combined into each; at least one loop, the innermost a row
  std::int64_t columns = 0;  ///< outputs side by side
};

/// Returns the axes of an input as loops, those of extent 1 dropped and neighbours of a kind merged where
/// input and output allow it. The output is row-major without gaps.
[[nodiscard]] inline Loops loops_of(const Shape& shape, const Strides& strides, const Axes& axes) {
  Shape kept;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!axes.contains(axis)) kept.push_back(shape[axis]);
  }
  const Strides out = contiguous_strides(kept);
  Loops loops;
  int next = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Loop loop{shape[axis], strides[axis], axes.contains(axis) ? 0 : out[next++]};
    if (loop.extent == 1) continue;
    const bool same_kind = !loops.empty() && (loops.back().out == 0) == (loop.out == 0);
    if (same_kind && loops.back().in == loop.in * loop.extent && loops.back().out == loop.out * loop.extent) {
      loops.back() = {loops.back().extent * loop.extent, loop.in, loop.out};
    } else {
      loops.push_back(loop);
    }
  }
  return loops;
}

/// Returns the order in which an array that has elements is reduced over `axes`; a fused loop gives the
/// strides of the array that it leaves out.
[[nodiscard]] inline ReductionOrder order_of(const Shape& shape, const Strides& strides, const Axes& axes) {
  using Kind = ReductionOrder::Kind;
  ReductionOrder order;
  const Loops loops = loops_of(shape, strides, axes);
  for (const Loop& loop : loops.all()) (loop.out == 0 ? order.reduced : order.outputs).push_back(loop);
  if (!order.outputs.empty() && order.outputs.back().in == 1) {
    order.columns = order.outputs.back().extent;
    order.outputs.pop_back();
  }
  if (order.reduced.empty()) order.reduced.push_back({1, 0, 0});
  if (order.outputs.empty() && order.columns == 0) order.outputs.push_back({1, 0, 0});
  const std::int64_t row = order.reduced.back().extent;
  order.kind = order.columns > 0          ? Kind::columns
               : order.reduced.size() > 1 ? Kind::all
               : row > elements_of_block  ? Kind::long_row
                                          : Kind::rows;
  return order;
}

}  // namespace lodestone::engine::cpu_backend
