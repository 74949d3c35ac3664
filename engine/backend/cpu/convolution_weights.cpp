// SPDX-License-Identifier: Apache-2.0
// Slopes of a direct convolution in its weights: every window element is a sum of outer products of windows
// of padded items with what came back for the outputs.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/tiles.hpp"
#include "engine/backend/cpu/window_passes.hpp"
#include "engine/graph/op_table.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// Rows of the weights, (window element, channels), that threads take at once.
constexpr Dim rows_of_unit = 16;

/// The sums of one group's weights. Items go through in chunks that stay in the cache.
template <class T>
struct Weights {
  Geometry g;
  std::array<AxisPlan, 3> plans;
  Box box;
  Dim width = tile_columns(core::dtype_of<T>), n_positions, chunk, units_of_tap;

  explicit Weights(const KernelCall& call)
      : g(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.out[0].shape(), call.in[1].shape()),
        plans{AxisPlan(g, 0, Direction::forward), AxisPlan(g, 1, Direction::forward),
              AxisPlan(g, 2, Direction::forward)},
        box{g.extent, g.low, {plans[0].size(), plans[1].size(), plans[2].size()}, g.channels, g.of_group},
        n_positions(volume(g.positions)),
        chunk(std::clamp<Dim>((Dim{1} << 18) / static_cast<Dim>(sizeof(T)) /
                                  std::max<Dim>(box.count() + n_positions * width, 1),
                              1, std::max<Dim>(g.items, 1))),
        units_of_tap((g.of_group + rows_of_unit - 1) / rows_of_unit) {}

  [[nodiscard]] Dim n_units() const { return g.n_taps() * units_of_tap; }
  [[nodiscard]] Passes<T> passes(Layout& layout) const { return {layout, plans, g, 0, 0, width}; }
};

/// The arrays of a thread: items with their padding, a block of columns of y where that is not y itself, sums
/// of its units.
template <class T>
struct Arrays {
  T *padded, *columns, *sums;
  Arrays(Layout& layout, const Weights<T>& of)
      : padded(layout.array<T>(of.chunk * of.box.count())),
        columns(layout.array<T>(of.g.k == of.width ? 0 : of.chunk * of.n_positions * of.width)),
        sums(layout.array<T>(of.n_units() * rows_of_unit * of.width)) {}
};

/// Returns a block of columns of y, rows of `width`, zeros at the end.
template <class T>
const T* pack_columns(const T* y, Dim n, Dim row, Dim columns, Dim width, T* to) {
  for (Dim i = 0; i < n; ++i)
    std::fill_n(std::copy_n(y + i * row, columns, to + i * width), width - columns, T(0));
  return to;
}

/// One group: where its channels of x, of y and of the result begin.
template <class T>
struct Group {
  const T *x, *y;
  T* out;
};

/// The units first_unit … last_unit − 1 of a group, on one thread.
template <class T>
struct Part {
  const Weights<T>& w;
  const Group<T>& group;
  const Pass<T>& pass;
  Dim first_unit, last_unit;
  Arrays<T> arrays;

  void run() const {
    for (Dim block = 0; block < w.g.k_group; block += w.width) {
      std::fill_n(arrays.sums, (last_unit - first_unit) * rows_of_unit * w.width, T(0));
      for (Dim item = 0; item < w.g.items; item += w.chunk) add_items(item, block);
      for (Dim unit = first_unit; unit < last_unit; ++unit) store(unit, block);
    }
  }

 private:
  [[nodiscard]] Dim n_columns(Dim block) const { return std::min(w.width, w.g.k_group - block); }
  [[nodiscard]] T* sums_of(Dim unit) const {
    return arrays.sums + (unit - first_unit) * rows_of_unit * w.width;
  }
  /// Adds what a chunk of items gives to the columns of a block.
  void add_items(Dim first, Dim block) const {
    const Geometry& g = w.g;
    const Dim items = std::min(w.chunk, g.items - first);
    for (Dim i = 0; i < items; ++i)
      w.box.fill(group.x + (first + i) * volume(g.extent) * g.channels, arrays.padded + i * w.box.count());
    const T* from = group.y + first * w.n_positions * g.k + block;
    if (g.k != w.width)
      from = pack_columns(from, items * w.n_positions, g.k, n_columns(block), w.width, arrays.columns);
    for (Dim unit = first_unit; unit < last_unit; ++unit) {
      const Dim row = unit % w.units_of_tap * rows_of_unit;
      add_outer<T>({arrays.padded + pass.offsets[unit / w.units_of_tap] + row,
                    {items, g.positions[0], g.positions[1]},
                    {w.box.count(), g.stride[0] * w.box.step(0), g.stride[1] * w.box.step(1)},
                    g.stride[2] * w.box.depth,
                    from,
                    w.width,
                    g.positions[2],
                    sums_of(unit),
                    std::min(rows_of_unit, g.of_group - row),
                    n_columns(block)});
    }
  }
  void store(Dim unit, Dim block) const {
    const Dim tap = unit / w.units_of_tap, first_row = unit % w.units_of_tap * rows_of_unit;
    for (Dim row = first_row; row < std::min(first_row + rows_of_unit, w.g.of_group); ++row)
      std::copy_n(sums_of(unit) + (row - first_row) * w.width, n_columns(block),
                  group.out + (tap * w.g.of_group + row) * w.g.k + block);
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
  for (Dim i = 0; i < g.groups; ++i) {
    const Group<T> group{call.in[0].as<T>() + i * g.of_group, call.in[1].as<T>() + i * g.k_group,
                         out + i * g.k_group};
    share(w.n_units(), g.ns<T>() / g.groups, [&](Dim first, Dim last) {
      Layout own(call.scratch.of_this_thread());
      Part<T>{w, group, passes.all()[0], first, last, Arrays<T>(own, w)}.run();
    });
  }
}

template <class T>
Workspace workspace(const KernelCall& call) {
  const Weights<T> w(call);
  Layout shared, own;
  static_cast<void>(w.passes(shared));
  static_cast<void>(Arrays<T>(own, w));
  return {shared.bytes(), own.bytes()};
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
