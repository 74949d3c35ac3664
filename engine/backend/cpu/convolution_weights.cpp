// SPDX-License-Identifier: Apache-2.0
// Slopes of a direct convolution in its weights: every window element is a sum of outer products of windows
// of padded items with what came back for the outputs. Items are copied once, some at a time, for all
// threads, which divide the weights; so each sum has one order.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/rounds.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/tiles.hpp"
#include "engine/backend/cpu/window_passes.hpp"
#include "engine/graph/op_table.hpp"

#include <cmath>

namespace lodestone::engine::cpu_backend {
namespace {

/// Rows of the weights, (window element, channels), that threads take at once.
constexpr Dim rows_of_unit = 16;
/// A thread takes about so many bytes of the operands for one unit after the other: they stay in its first
/// cache, or in part in the second.
constexpr Dim bytes_of_chunk = Dim{1} << 16;
/// About so many bytes are copied at once, for one thread and for several: they stay in the second cache.
constexpr Dim bytes_of_round = Dim{1} << 18, bytes_of_shared_round = Dim{1} << 20;
/// Threads share rounds of at least so many nanoseconds.
constexpr double ns_of_shared_round = 5e5;
/// Work of at least so many nanoseconds is shared in rounds; less of it, from so many on, in two pieces.
constexpr double ns_of_rounds = 2e5, ns_of_pieces = 5e3;

/// Some of the outputs: whole items, or lines of one item along the second axis.
struct Chunk {
  Dim item, items, line_a, n_a, line_b, n_b;
};

/// Extents of the sums.
template <class T>
struct Weights {
  Geometry g;
  std::array<AxisPlan, 3> plans;
  Box box;
  Dim width = tile_columns(core::dtype_of<T>), n_positions, n_blocks, units_of_tap;

  explicit Weights(const KernelCall& call)
      : g(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.out[0].shape(), call.in[1].shape()),
        plans{AxisPlan(g, 0, Direction::forward), AxisPlan(g, 1, Direction::forward),
              AxisPlan(g, 2, Direction::forward)},
        box{g.extent, g.low, {plans[0].size(), plans[1].size(), plans[2].size()}, g.channels, g.of_group},
        n_positions(volume(g.positions)),
        n_blocks((g.k_group + width - 1) / width),
        units_of_tap((g.of_group + rows_of_unit - 1) / rows_of_unit) {}

  /// Returns true where blocks of columns are taken from y as it stands.
  [[nodiscard]] bool takes_y() const { return g.k_group % width == 0; }
  [[nodiscard]] Dim n_units() const { return n_blocks * g.n_taps() * units_of_tap; }
  [[nodiscard]] Dim n_sums() const { return n_units() * rows_of_unit * width; }
  [[nodiscard]] double ns_of_group() const { return g.template ns<T>() / static_cast<double>(g.groups); }
  /// Returns in how many pieces items are added up, by the amount of work alone.
  [[nodiscard]] Dim n_pieces() const {
    return ns_of_group() >= ns_of_pieces && ns_of_group() < ns_of_rounds && g.items > 1 ? 2 : 1;
  }
  [[nodiscard]] Dim n_columns(Dim block) const { return std::min(width, g.k_group - block * width); }
  [[nodiscard]] Passes<T> passes(Layout& layout) const { return {layout, plans, g, 0, 0, width}; }
  /// Returns how many items have about so many bytes.
  [[nodiscard]] Dim items_of(Dim bytes) const {
    return std::clamp<Dim>(bytes / bytes_of_item(), 1, std::max<Dim>(g.items, 1));
  }
  /// Returns the items of a round that threads share.
  [[nodiscard]] Dim shared_round() const {
    const double ns_of_item = g.template ns<T>() / static_cast<double>(std::max<Dim>(g.items, 1) * g.groups);
    const double worth_it = std::ceil(ns_of_shared_round / std::max(ns_of_item, 1.0));
    return std::max(items_of(bytes_of_shared_round), std::min(static_cast<Dim>(worth_it), g.items));
  }
  /// Calls f with the chunks of some items, in the order of their outputs.
  template <class F>
  void for_each_chunk(Dim items, F&& f) const {
    const auto [n_a, n_b, n_c] = g.positions;
    const Dim items_at_once = items_of(bytes_of_chunk);
    const Dim lines = std::clamp<Dim>(bytes_of_chunk * n_a * n_b / bytes_of_item(), 1, n_b);
    if (items_at_once > 1 || (n_a == 1 && lines == n_b)) {
      for (Dim item = 0; item < items; item += items_at_once)
        f(Chunk{item, std::min(items_at_once, items - item), 0, n_a, 0, n_b});
      return;
    }
    for (Dim item = 0; item < items; ++item) {
      for (Dim a = 0; a < n_a; ++a) {
        for (Dim b = 0; b < n_b; b += lines) f(Chunk{item, 1, a, 1, b, std::min(lines, n_b - b)});
      }
    }
  }

 private:
  /// Returns the bytes of an item with its padding and of a block of columns of it.
  [[nodiscard]] Dim bytes_of_item() const {
    return std::max<Dim>(box.count() + n_positions * width, 1) * static_cast<Dim>(sizeof(T));
  }
};

/// The items of a round with their padding, and their rows of y as blocks of columns
/// [block][item][position][width], zeros behind the last; none where they are taken from y itself.
template <class T>
struct Copies {
  T *padded = nullptr, *columns = nullptr;
  Copies() = default;
  Copies(Layout& layout, const Weights<T>& of)
      : padded(layout.array<T>(of.shared_round() * of.box.count())),
        columns(
            layout.array<T>(of.takes_y() ? 0 : of.n_blocks * of.shared_round() * of.n_positions * of.width)) {
  }
};

/// The arrays that threads share: the copies of some rounds and the sums of all units, for each piece.
template <class T>
struct Arrays {
  Rounds rounds;
  std::array<Copies<T>, Rounds::n_buffers> copies;
  T* sums;
  Arrays(Layout& layout, const Weights<T>& of) : rounds(layout, of.shared_round(), of.n_units()) {
    for (Copies<T>& each : copies) each = Copies<T>(layout, of);
    sums = layout.array<T>(of.n_pieces() * of.n_sums());
  }
};

/// A unit: some rows of the weights of a window element, in a block of columns.
struct Unit {
  Dim block, tap, first_row, n_rows;
  template <class T>
  Unit(const Weights<T>& w, Dim i)
      : block(i / w.units_of_tap / w.g.n_taps()),
        tap(i / w.units_of_tap % w.g.n_taps()),
        first_row(i % w.units_of_tap * rows_of_unit),
        n_rows(std::min(rows_of_unit, w.g.of_group - first_row)) {}
};

/// One group: where its channels of x, of y and of the result begin.
template <class T>
struct Group {
  const Weights<T>& w;
  const Pass<T>& pass;
  const Arrays<T>& arrays;
  const T *x, *y;
  T* out;

  void run() const {
    std::fill_n(arrays.sums, w.n_pieces() * w.n_sums(), T(0));
    w.n_pieces() > 1 ? run_pieces() : run_rounds();
    for (Dim unit = 0; unit < w.n_units(); ++unit) store(unit);
  }

 private:
  /// Adds up one round of items after the other.
  void run_rounds() const {
    const bool is_shared = core::threads() > 1 && w.ns_of_group() >= ns_of_rounds;
    const Dim n = is_shared ? w.shared_round() : w.items_of(bytes_of_round);
    const Dim n_parts = is_shared ? std::min<Dim>(w.n_units(), 2 * core::threads()) : 1;
    arrays.rounds.run((w.g.items + n - 1) / n, n, n_parts, is_shared,
                      [&](Dim round, Dim i, Dim buffer) {
                        if (round * n + i < w.g.items)
                          copy(round * n + i, arrays.copies[static_cast<std::size_t>(buffer)], i);
                      },
                      [&](Dim round, Dim part, Dim buffer) {
                        const Copies<T>& from = arrays.copies[static_cast<std::size_t>(buffer)];
                        w.for_each_chunk(std::min(n, w.g.items - round * n), [&](const Chunk& chunk) {
                          for (Dim unit = w.n_units() * part / n_parts;
                               unit < w.n_units() * (part + 1) / n_parts; ++unit)
                            add(unit, round * n, chunk, from, arrays.sums);
                        });
                      });
  }
  /// Adds up pieces of the items, each with copies and sums of its own, and then the pieces.
  void run_pieces() const {
    const Dim n = w.n_pieces(), at_once = w.items_of(bytes_of_round);
    share(n, w.ns_of_group(), [&](Dim begin, Dim end) {
      for (Dim piece = begin; piece < end; ++piece) {
        const Copies<T>& copies = arrays.copies[static_cast<std::size_t>(piece)];
        const Dim last = w.g.items * (piece + 1) / n;
        for (Dim first = w.g.items * piece / n; first < last; first += at_once) {
          const Dim items = std::min(at_once, last - first);
          for (Dim i = 0; i < items; ++i) copy(first + i, copies, i);
          w.for_each_chunk(items, [&](const Chunk& chunk) {
            for (Dim unit = 0; unit < w.n_units(); ++unit)
              add(unit, first, chunk, copies, arrays.sums + piece * w.n_sums());
          });
        }
      }
    });
    for (Dim piece = 1; piece < n; ++piece) {
      const T* const from = arrays.sums + piece * w.n_sums();
      take_over(from, w.n_sums());
      for (Dim i = 0; i < w.n_sums(); ++i) arrays.sums[i] += from[i];
    }
  }
  [[nodiscard]] T* columns_of(const Copies<T>& copies, Dim block, Dim place) const {
    return copies.columns + (block * w.shared_round() + place) * w.n_positions * w.width;
  }
  /// Copies an item to its place in a round.
  void copy(Dim item, const Copies<T>& copies, Dim place) const {
    w.box.fill(x + item * volume(w.g.extent) * w.g.channels, copies.padded + place * w.box.count());
    if (w.takes_y()) return;
    const T* from = y + item * w.n_positions * w.g.k;
    for (Dim block = 0; block < w.n_blocks; ++block, from += w.width) {
      T* to = columns_of(copies, block, place);
      const Dim n = w.n_columns(block);
      for (Dim i = 0; i < w.n_positions; ++i, to += w.width)
        std::fill_n(std::copy_n(from + i * w.g.k, n, to), w.width - n, T(0));
    }
  }
  /// Adds to a unit what a chunk of a round gives, which begins at item `first`.
  void add(Dim i, Dim first, const Chunk& chunk, const Copies<T>& copies, T* sums) const {
    const Unit unit(w, i);
    const Geometry& g = w.g;
    const Dim step_a = g.stride[0] * w.box.step(0), step_b = g.stride[1] * w.box.step(1);
    const Dim y_step = w.takes_y() ? g.k : w.width;
    const T* const of_item = w.takes_y()
                                 ? y + (first + chunk.item) * w.n_positions * g.k + unit.block * w.width
                                 : columns_of(copies, unit.block, chunk.item);
    add_outer<T>({copies.padded + chunk.item * w.box.count() + chunk.line_a * step_a + chunk.line_b * step_b +
                      pass.offsets[unit.tap] + unit.first_row,
                  {chunk.items, chunk.n_a, chunk.n_b},
                  {w.box.count(), step_a, step_b},
                  g.stride[2] * w.box.depth,
                  of_item + (chunk.line_a * g.positions[1] + chunk.line_b) * g.positions[2] * y_step,
                  y_step,
                  g.positions[2],
                  sums + i * rows_of_unit * w.width,
                  unit.n_rows,
                  w.n_columns(unit.block)});
  }
  void store(Dim i) const {
    const Unit unit(w, i);
    const T* from = arrays.sums + i * rows_of_unit * w.width;
    T* to = out + (unit.tap * w.g.of_group + unit.first_row) * w.g.k + unit.block * w.width;
    for (Dim row = 0; row < unit.n_rows; ++row)
      std::copy_n(from + row * w.width, w.n_columns(unit.block), to + row * w.g.k);
  }
};

template <class T>
void kernel(const KernelCall& call) {
  if (call.out[0].count() == 0) return;
  T* const out = call.out[0].as<T>();
  if (call.in[1].count() == 0) {
    std::fill_n(out, call.out[0].count(), T(0));
    return;
  }
  const Weights<T> w(call);
  const Geometry& g = w.g;
  Layout shared(call.scratch.shared());
  Passes<T> passes = w.passes(shared);
  passes.find(w.box);
  const Arrays<T> arrays(shared, w);
  for (Dim i = 0; i < g.groups; ++i)
    Group<T>{w,
             passes.all()[0],
             arrays,
             call.in[0].as<T>() + i * g.of_group,
             call.in[1].as<T>() + i * g.k_group,
             out + i * g.k_group}
        .run();
}

template <class T>
Workspace workspace(const KernelCall& call) {
  const Weights<T> w(call);
  Layout shared;
  static_cast<void>(w.passes(shared));
  static_cast<void>(Arrays<T>(shared, w));
  return {.shared = shared.bytes()};
}

template <class T>
void put(OpInfo& row) {
  row.with_kernel(
      Backend::processor, core::dtype_of<T>,
      {.name = "cpu.direct", .run = kernel<T>, .contiguous_inputs = true, .workspace = workspace<T>});
}

}  // namespace

void register_convolution_weight_kernels(OpTable& table) {
  put<float>(table.at("conv_weights"));
  put<double>(table.at("conv_weights"));
}

}  // namespace lodestone::engine::cpu_backend
