// SPDX-License-Identifier: Apache-2.0
// Convolutions without a patch matrix: each item is copied once with its padding, and a row of outputs is a
// small product of windows of that copy with packed weights, all sums in registers. A strided transposed
// convolution is `stride` such passes, one for each residue of the output's position.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/tiles.hpp"
#include "engine/backend/cpu/triple.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace lodestone::engine::cpu_backend {
namespace {

/// x [n, extent, channels], w [window, of_group, k], y [n, positions, k].
struct Geometry {
  Triple extent, window, positions, stride, low, dilation;
  Dim items, channels, k, of_group, k_group;
  int groups;

  Geometry(const ConvAttrs& attrs, const Shape& x, const Shape& w, const Shape& y) {
    const int n = x.rank() - 2;
    extent = triple(x, 1, n, 1);
    window = triple(w, 0, n, 1);
    positions = triple(y, 1, n, 1);
    stride = triple(attrs.stride, 0, n, 1);
    low = triple(attrs.low, 0, n, 0);
    dilation = triple(attrs.dilation, 0, n, 1);
    items = x[0];
    channels = x.back();
    k = y.back();
    groups = attrs.groups;
    of_group = w[n];
    k_group = k / groups;
  }
  [[nodiscard]] Dim n_taps() const { return window[0] * window[1] * window[2]; }
  [[nodiscard]] static Dim volume(const Triple& of) { return of[0] * of[1] * of[2]; }
  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(items * volume(positions) * n_taps()) *
           static_cast<double>(of_group * k);
  }
};

/// Nanoseconds of so many operations on one thread, roughly.
template <class T>
double time_of(double flops) {
  return flops * (sizeof(T) == 4 ? 0.01 : 0.02);
}

/// The place of an item in its padded copy: element i of an axis is i − low of the item, zero outside.
struct Box {
  Triple extent, low, size;
  Dim channels, depth;  ///< number in the item, number in the group that is copied

  [[nodiscard]] Dim count() const { return Geometry::volume(size) * depth; }
  [[nodiscard]] Dim step(std::size_t axis) const {
    return axis == 2 ? depth : axis == 1 ? size[2] * depth : size[1] * size[2] * depth;
  }

  template <class T>
  void fill(const T* item, T* to) const {
    const Dim before = std::clamp<Dim>(low[2], 0, size[2]),
              last = std::clamp<Dim>(extent[2] + low[2], before, size[2]);
    for (Dim a = 0; a < size[0]; ++a) {
      for (Dim b = 0; b < size[1]; ++b, to += step(1)) {
        const Dim from_a = a - low[0], from_b = b - low[1];
        if (from_a < 0 || from_a >= extent[0] || from_b < 0 || from_b >= extent[1]) {
          std::fill_n(to, step(1), T(0));
          continue;
        }
        const T* from = item + ((from_a * extent[1] + from_b) * extent[2] + before - low[2]) * channels;
        std::fill_n(to, before * depth, T(0));
        if (depth == channels) {
          std::copy_n(from, (last - before) * depth, to + before * depth);
        } else {
          for (Dim c = before; c < last; ++c)
            std::copy_n(from + (c - before) * channels, depth, to + c * depth);
        }
        std::fill_n(to + last * depth, (size[2] - last) * depth, T(0));
      }
    }
  }
};

/// Along one axis: outputs first, first + step, … (n of them), output i made of elements i · in_step + offset
/// of the padded copy.
struct AxisPass {
  Dim first, step, n, in_step;
  std::vector<std::pair<Dim, Dim>> taps;  ///< window element, offset
};

/// Passes and padding of one axis.
struct AxisPlan {
  std::vector<AxisPass> passes;
  Dim low, size;
};

AxisPlan forward_plan(const Geometry& g, std::size_t axis) {
  AxisPass pass{0, 1, g.positions[axis], g.stride[axis], {}};
  for (Dim i = 0; i < g.window[axis]; ++i) pass.taps.emplace_back(i, i * g.dilation[axis]);
  const Dim reach = std::max<Dim>(pass.n - 1, 0) * pass.in_step + (g.window[axis] - 1) * g.dilation[axis];
  return {{std::move(pass)}, g.low[axis], reach + 1};
}

/// x[q] takes y[p] from every window element i with p · stride + i · dilation = q + low.
AxisPlan transposed_plan(const Geometry& g, std::size_t axis) {
  AxisPlan plan{{}, 0, 1};
  const Dim stride = g.stride[axis];
  Dim lowest = 0, highest = 0;
  for (Dim q = 0; q < std::min(stride, g.extent[axis]); ++q) {
    AxisPass pass{q, stride, (g.extent[axis] - q + stride - 1) / stride, 1, {}};
    for (Dim i = 0; i < g.window[axis]; ++i) {
      const Dim from = q + g.low[axis] - i * g.dilation[axis];
      if (from % stride != 0) continue;
      pass.taps.emplace_back(i, from / stride);
      lowest = std::min(lowest, from / stride);
      highest = std::max(highest, from / stride + pass.n - 1);
    }
    plan.passes.push_back(std::move(pass));
  }
  for (AxisPass& pass : plan.passes) {
    for (auto& tap : pass.taps) tap.second -= lowest;
  }
  plan.low = -lowest;
  plan.size = highest - lowest + 1;
  return plan;
}

/// A pass over all axes with the weights it needs.
template <class T>
struct Pass {
  std::array<const AxisPass*, 3> axes;
  std::vector<Dim> taps, numbers;  ///< offsets into the padded copy, window elements
  std::vector<T> weights;          ///< [blocks of columns][taps][depth][tile_columns]
};

template <class T>
std::vector<Pass<T>> passes_of(const std::array<AxisPlan, 3>& plans, const Box& box, const Geometry& g) {
  std::vector<Pass<T>> passes;
  for (const AxisPass& a : plans[0].passes) {
    for (const AxisPass& b : plans[1].passes) {
      for (const AxisPass& c : plans[2].passes) {
        Pass<T>& pass = passes.emplace_back(Pass<T>{{&a, &b, &c}, {}, {}, {}});
        for (const auto& [i, at_a] : a.taps) {
          for (const auto& [j, at_b] : b.taps) {
            for (const auto& [k, at_c] : c.taps) {
              pass.taps.push_back(at_a * box.step(0) + at_b * box.step(1) + at_c * box.step(2));
              pass.numbers.push_back((i * g.window[1] + j) * g.window[2] + k);
            }
          }
        }
      }
    }
  }
  return passes;
}

/// Rows [tap][s] of w(tap, s, column), columns in blocks.
template <class T, class Weight>
void pack(Pass<T>& pass, Dim depth, Dim columns, Dim width, Weight&& weight) {
  const auto n_taps = static_cast<Dim>(pass.taps.size());
  const Dim blocks = (columns + width - 1) / width;
  pass.weights.assign(static_cast<std::size_t>(blocks * n_taps * depth * width), T(0));
  T* to = pass.weights.data();
  for (Dim block = 0; block < blocks; ++block) {
    const Dim first = block * width, n = std::min(width, columns - first);
    for (const Dim number : pass.numbers) {
      for (Dim s = 0; s < depth; ++s, to += width) {
        for (Dim j = 0; j < n; ++j) to[j] = weight(number, s, first + j);
      }
    }
  }
}

/// The result of a pass over one item's padded copy.
template <class T>
struct Target {
  T* item;
  Triple extent;
  Dim channels, columns;
};

template <class T>
void run(const Pass<T>& pass, const Box& box, const T* padded, const Target<T>& to, Dim width) {
  const AxisPass &a = *pass.axes[0], &b = *pass.axes[1], &c = *pass.axes[2];
  const auto n_taps = static_cast<Dim>(pass.taps.size());
  for (Dim first = 0; first < to.columns; first += width) {
    const T* weights = pass.weights.data() + first * n_taps * box.depth;
    for (Dim i = 0; i < a.n; ++i) {
      for (Dim j = 0; j < b.n; ++j) {
        const Dim line =
            ((a.first + i * a.step) * to.extent[1] + b.first + j * b.step) * to.extent[2] + c.first;
        multiply_windows<T>({padded + i * a.in_step * box.step(0) + j * b.in_step * box.step(1),
                             c.in_step * box.depth, pass.taps.data(), n_taps, box.depth, weights,
                             to.item + line * to.channels + first, c.step * to.channels, c.n,
                             std::min(width, to.columns - first)});
      }
    }
  }
}

enum class Direction { forward, transposed };

template <class T, Direction direction>
void convolve(const Geometry& g, const T* from, const T* w, T* out) {
  constexpr bool is_forward = direction == Direction::forward;
  const Dim width = tile_columns(core::dtype_of<T>);
  std::array<AxisPlan, 3> plans;
  for (std::size_t axis = 0; axis < 3; ++axis)
    plans[axis] = is_forward ? forward_plan(g, axis) : transposed_plan(g, axis);
  const Dim channels_in = is_forward ? g.channels : g.k, channels_out = is_forward ? g.k : g.channels;
  const Dim depth = channels_in / g.groups, columns = channels_out / g.groups;
  const Triple &in_extent = is_forward ? g.extent : g.positions,
               &out_extent = is_forward ? g.positions : g.extent;
  const Box box{in_extent,
                {plans[0].low, plans[1].low, plans[2].low},
                {plans[0].size, plans[1].size, plans[2].size},
                channels_in,
                depth};
  std::vector<Pass<T>> passes = passes_of<T>(plans, box, g);
  for (int group = 0; group < g.groups; ++group) {
    for (Pass<T>& pass : passes) {
      pack(pass, depth, columns, width, [&](Dim tap, Dim s, Dim column) {
        const Dim c = is_forward ? s : column, k = group * g.k_group + (is_forward ? column : s);
        return w[(tap * g.of_group + c) * g.k + k];
      });
    }
    share(g.items, time_of<T>(g.flops()) / g.groups, [&](Dim first, Dim last) {
      const auto padded = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(box.count()));
      for (Dim item = first; item < last; ++item) {
        box.fill(from + item * Geometry::volume(in_extent) * channels_in + group * depth, padded.get());
        T* const to = out + item * Geometry::volume(out_extent) * channels_out + group * columns;
        for (const Pass<T>& pass : passes)
          run<T>(pass, box, padded.get(), {to, out_extent, channels_out, columns}, width);
      }
    });
  }
}

template <class T>
void conv_kernel(const KernelCall& call) {
  if (call.out.count() == 0) return;
  const Geometry g(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.in[1].shape(), call.out.shape());
  convolve<T, Direction::forward>(g, call.in[0].as<T>(), call.in[1].as<T>(), call.out.as<T>());
}

template <class T>
void conv_transpose_kernel(const KernelCall& call) {
  if (call.out.count() == 0) return;
  const Geometry g(call.attrs_of<ConvAttrs>(), call.out.shape(), call.in[1].shape(), call.in[0].shape());
  convolve<T, Direction::transposed>(g, call.in[0].as<T>(), call.in[1].as<T>(), call.out.as<T>());
}

/// A block of columns of y, rows of `width`, zeros at the end.
template <class T>
const T* pack_columns(const T* y, Dim n, Dim row, Dim columns, Dim width, T* to) {
  for (Dim i = 0; i < n; ++i)
    std::fill_n(std::copy_n(y + i * row, columns, to + i * width), width - columns, T(0));
  return to;
}

/// Rows of the weights, (window element, channels), that threads take at once.
constexpr Dim rows_of_unit = 16;

/// Slopes of one group's weights: units of rows are shared by the threads, items go through in chunks that
/// stay in the cache.
template <class T>
void weigh(const Geometry& g, const T* x, const T* y, T* out) {
  const Dim width = tile_columns(core::dtype_of<T>), n_positions = Geometry::volume(g.positions);
  const std::array<AxisPlan, 3> plans{forward_plan(g, 0), forward_plan(g, 1), forward_plan(g, 2)};
  const Box box{g.extent, g.low, {plans[0].size, plans[1].size, plans[2].size}, g.channels, g.of_group};
  const Pass<T> pass = passes_of<T>(plans, box, g).front();
  const Dim chunk = std::clamp<Dim>(
      (Dim{1} << 18) / static_cast<Dim>(sizeof(T)) / std::max<Dim>(box.count() + n_positions * width, 1), 1,
      std::max<Dim>(g.items, 1));
  const Dim units_of_tap = (g.of_group + rows_of_unit - 1) / rows_of_unit;
  share(g.n_taps() * units_of_tap, time_of<T>(g.flops()) / g.groups, [&](Dim first_unit, Dim last_unit) {
    const auto padded = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(chunk * box.count()));
    const auto columns =
        std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(chunk * n_positions * width));
    std::vector<T> sums(static_cast<std::size_t>((last_unit - first_unit) * rows_of_unit * width));
    for (Dim block = 0; block < g.k_group; block += width) {
      const Dim n_columns = std::min(width, g.k_group - block);
      std::fill(sums.begin(), sums.end(), T(0));
      for (Dim first = 0; first < g.items; first += chunk) {
        const Dim items = std::min(chunk, g.items - first);
        for (Dim i = 0; i < items; ++i)
          box.fill(x + (first + i) * Geometry::volume(g.extent) * g.channels, padded.get() + i * box.count());
        const T* from = y + first * n_positions * g.k + block;
        if (g.k != width)
          from = pack_columns(from, items * n_positions, g.k, n_columns, width, columns.get());
        for (Dim unit = first_unit; unit < last_unit; ++unit) {
          const Dim row = unit % units_of_tap * rows_of_unit;
          add_outer<T>({padded.get() + pass.taps[static_cast<std::size_t>(unit / units_of_tap)] + row,
                        {items, g.positions[0], g.positions[1]},
                        {box.count(), g.stride[0] * box.step(0), g.stride[1] * box.step(1)},
                        g.stride[2] * box.depth,
                        from,
                        width,
                        g.positions[2],
                        sums.data() + (unit - first_unit) * rows_of_unit * width,
                        std::min(rows_of_unit, g.of_group - row),
                        n_columns});
        }
      }
      for (Dim unit = first_unit; unit < last_unit; ++unit) {
        const Dim tap = unit / units_of_tap, first_row = unit % units_of_tap * rows_of_unit;
        for (Dim row = first_row; row < std::min(first_row + rows_of_unit, g.of_group); ++row) {
          std::copy_n(sums.data() + ((unit - first_unit) * rows_of_unit + row - first_row) * width, n_columns,
                      out + (tap * g.of_group + row) * g.k + block);
        }
      }
    }
  });
}

template <class T>
void conv_weights_kernel(const KernelCall& call) {
  const Geometry g(call.attrs_of<ConvAttrs>(), call.in[0].shape(), call.out.shape(), call.in[1].shape());
  if (call.out.count() == 0) return;
  if (call.in[1].count() == 0) {
    std::fill_n(call.out.as<T>(), call.out.count(), T(0));
    return;
  }
  for (int group = 0; group < g.groups; ++group) {
    weigh(g, call.in[0].as<T>() + group * g.of_group, call.in[1].as<T>() + group * g.k_group,
          call.out.as<T>() + group * g.k_group);
  }
}

template <class... T>
void register_for(OpTable& table) {
  const auto put = [&](std::string_view name, DType dtype, void (*run)(const KernelCall&)) {
    table.at(name).with_kernel(Backend::processor, dtype, {"cpu.direct", run, true});
  };
  (put("conv", core::dtype_of<T>, conv_kernel<T>), ...);
  (put("conv_transpose", core::dtype_of<T>, conv_transpose_kernel<T>), ...);
  (put("conv_weights", core::dtype_of<T>, conv_weights_kernel<T>), ...);
}

}  // namespace

void register_direct_convolution_kernels(OpTable& table) { register_for<float, double>(table); }

}  // namespace lodestone::engine::cpu_backend
