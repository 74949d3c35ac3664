// SPDX-License-Identifier: Apache-2.0
// Convolutions without a patch matrix: each item is copied once with its padding, and a row of outputs is a
// small product of windows of that copy with packed weights, all sums in registers. A strided transposed
// convolution is `stride` such passes, one for each residue of the output's position.
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/tiles.hpp"
#include "engine/backend/cpu/window_passes.hpp"
#include "engine/graph/op_table.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// From which array, with which weights, into which: forward from x to y, transposed from y to x.
template <class T, Direction direction>
struct Convolution {
  static constexpr bool is_forward = direction == Direction::forward;
  Geometry g;
  std::array<AxisPlan, 3> plans;
  Triple in_extent, out_extent;
  Dim channels_in, channels_out, depth, columns, width = tile_columns(core::dtype_of<T>);
  Box box;

  explicit Convolution(const KernelCall& call)
      : g(call.attrs_of<ConvAttrs>(), (is_forward ? call.in : call.out)[0].shape(), call.in[1].shape(),
          (is_forward ? call.out : call.in)[0].shape()),
        plans{AxisPlan(g, 0, direction), AxisPlan(g, 1, direction), AxisPlan(g, 2, direction)},
        in_extent(is_forward ? g.extent : g.positions),
        out_extent(is_forward ? g.positions : g.extent),
        channels_in(is_forward ? g.channels : g.k),
        channels_out(is_forward ? g.k : g.channels),
        depth(channels_in / g.groups),
        columns(channels_out / g.groups),
        box{in_extent,
            {plans[0].low(), plans[1].low(), plans[2].low()},
            {plans[0].size(), plans[1].size(), plans[2].size()},
            channels_in,
            depth} {}

  [[nodiscard]] Passes<T> passes(Layout& layout, const T* packed = nullptr) const {
    return {layout, plans, g, depth, columns, width, packed};
  }
  [[nodiscard]] T* padded(Layout& layout) const { return layout.array<T>(box.count()); }
  /// Returns the elements of the packed weights of a group.
  [[nodiscard]] Dim n_weights() const {
    Layout layout;
    return passes(layout).n_weights();
  }
  [[nodiscard]] Dim item_in() const { return volume(in_extent) * channels_in; }
  [[nodiscard]] Dim item_out() const { return volume(out_extent) * channels_out; }
  /// Returns the weights of a group, by window element, depth and column.
  [[nodiscard]] auto weights(const T* w, int group) const {
    return [this, w, group](Dim tap, Dim s, Dim column) {
      const Dim c = is_forward ? s : column, k = group * g.k_group + (is_forward ? column : s);
      return w[(tap * g.of_group + c) * g.k + k];
    };
  }
  /// Computes the columns of a group, from `out` on, in one item.
  void run(const Pass<T>& pass, const T* from_padded, T* out) const;
};

template <class T, Direction direction>
void Convolution<T, direction>::run(const Pass<T>& pass, const T* from_padded, T* out) const {
  const auto& [a, b, c] = pass.axes;
  for (Dim first = 0; first < columns; first += width) {
    const T* weights = pass.weights + first * pass.n_taps * depth;
    for (Dim i = 0; i < a.n; ++i) {
      for (Dim j = 0; j < b.n; ++j) {
        const Dim line =
            ((a.first + i * a.step) * out_extent[1] + b.first + j * b.step) * out_extent[2] + c.first;
        multiply_windows<T>({from_padded + i * a.in_step * box.step(0) + j * b.in_step * box.step(1),
                             c.in_step * depth, pass.offsets, pass.n_taps, depth, weights,
                             out + line * channels_out + first, c.step * channels_out, c.n,
                             std::min(width, columns - first)});
      }
    }
  }
}

/// Items that a reader makes on a thread, some at a time.
template <class T>
struct MadeItems {
  const Reader* reader;
  Dim elements, at_once;
  T* place;

  MadeItems(Layout& layout, const KernelCall& call, Dim of_item)
      : reader(call.reader),
        elements(of_item),
        at_once(rows_in_cache(static_cast<std::size_t>(of_item) * sizeof(T))),
        place(layout.array<T>(reader == nullptr ? 0 : at_once * of_item)) {
    if (place != nullptr) reader->open();
  }
  /// Returns an item of those from `first` to before `last`, which are asked for in order; null without a
  /// reader.
  [[nodiscard]] const T* item(Dim i, Dim first, Dim last) const {
    if (reader == nullptr) return nullptr;
    const Dim n = (i - first) % at_once;
    if (n == 0)
      reader->read(i * elements, std::min(at_once, last - i) * elements, reinterpret_cast<std::byte*>(place));
    return place + n * elements;
  }
};

template <class T, Direction direction>
void kernel(const KernelCall& call) {
  if (call.out[0].count() == 0) return;
  const Convolution<T, direction> conv(call);
  const T *from = call.in[0].as<T>(), *w = call.in[1].as<T>();
  const auto* packed = reinterpret_cast<const T*>(call.packed);
  for (int group = 0; group < conv.g.groups; ++group) {
    OncePerThread once;
    share(conv.g.items, conv.g.template ns<T>() / conv.g.groups, [&](Dim first, Dim last) {
      Layout own(call.scratch.of_this_thread());
      Passes<T> passes = conv.passes(own, packed);
      T* const padded = conv.padded(own);
      const MadeItems<T> made(own, call, conv.item_in());
      HandOver done(call);
      if (once.is_first()) {
        passes.find(conv.box);
        if (packed == nullptr) passes.pack(conv.weights(w, group));
      }
      for (Dim item = first; item < last; ++item) {
        const T* const in = made.item(item, first, last);
        conv.box.fill((in == nullptr ? from + item * conv.item_in() : in) + group * conv.depth, padded);
        T* const out = call.out[0].as<T>() + item * conv.item_out() + group * conv.columns;
        for (const Pass<T>& pass : passes.all()) conv.run(pass, padded, out);
        if (group == conv.g.groups - 1) done(item * conv.item_out(), conv.item_out());
      }
      done.finish();
    });
    if (packed != nullptr) packed += conv.n_weights();
  }
}

template <class T, Direction direction>
Packing packing(const KernelCall& call) {
  const Convolution<T, direction> conv(call);
  return {1, static_cast<std::size_t>(conv.n_weights() * conv.g.groups) * sizeof(T)};
}

/// Packs the weights of one group after the other.
template <class T, Direction direction>
void pack(const KernelCall& call, std::byte* to) {
  const Convolution<T, direction> conv(call);
  Layout own(call.scratch.of_this_thread());
  Passes<T> passes = conv.passes(own);
  passes.find(conv.box);
  for (int group = 0; group < conv.g.groups; ++group)
    passes.pack(reinterpret_cast<T*>(to) + group * conv.n_weights(), conv.weights(call.in[1].as<T>(), group));
}

/// Every thread packs the weights for itself: memory that one writes and others read is slow to write again.
template <class T, Direction direction>
Workspace workspace(const KernelCall& call) {
  const Convolution<T, direction> conv(call);
  Layout own;
  static_cast<void>(conv.passes(own));
  static_cast<void>(conv.padded(own));
  static_cast<void>(MadeItems<T>(own, call, conv.item_in()));
  return {.per_thread = own.bytes()};
}

/// Items are read whole, unless their channels are in groups.
Dim elements_read(const KernelCall& call) {
  return call.attrs_of<ConvAttrs>().groups == 1 ? call.in[0].count() / std::max<Dim>(call.in[0].shape()[0], 1)
                                                : 0;
}

template <class T, Direction direction>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.direct",
                   .run = kernel<T, direction>,
                   .contiguous_inputs = true,
                   .reads_once = true,
                   .workspace = workspace<T, direction>,
                   .hands_over = elements_of_item,
                   .reads_by = elements_read,
                   .packing = packing<T, direction>,
                   .pack = pack<T, direction>});
}

}  // namespace

void register_direct_convolution_kernels(OpTable& table) {
  put<float, Direction::forward>(table.at("conv"));
  put<double, Direction::forward>(table.at("conv"));
  put<float, Direction::transposed>(table.at("conv_transpose"));
  put<double, Direction::transposed>(table.at("conv_transpose"));
}

}  // namespace lodestone::engine::cpu_backend
