// SPDX-License-Identifier: Apache-2.0
// Attributes that rows and kernels share.
#pragma once

#include "engine/graph/attrs.hpp"

namespace lodestone::engine {

struct CastAttrs {
  DType to;
  static auto fields() { return std::tuple{Field{"to", &CastAttrs::to}}; }
};

/// The destination of a copy.
struct DeviceAttrs {
  Device device;
  static auto fields() { return std::tuple{Field{"device", &DeviceAttrs::device}}; }
};

/// Axes that are reduced, sorted; they disappear.
struct ReduceAttrs {
  Axes axes;
  static auto fields() { return std::tuple{Field{"axes", &ReduceAttrs::axes, axes_of(0)}}; }
};

/// The shape to become, for reshape and broadcast.
struct ShapeAttrs {
  Shape shape;
  static auto fields() { return std::tuple{Field{"shape", &ShapeAttrs::shape, extents_of_result}}; }
};

/// Axis i of the output is axis order[i] of the input.
struct TransposeAttrs {
  Axes order;
  static auto fields() { return std::tuple{Field{"order", &TransposeAttrs::order, paired_axes_of(0)}}; }
};

/// Elements first, first + step, … (count of them) of each axis; steps may be negative.
struct SliceAttrs {
  IntList first, count, step;
  static auto fields() {
    return std::tuple{Field{"first", &SliceAttrs::first, offsets_from(0, 1)},
                      Field{"count", &SliceAttrs::count, extents_of_result},
                      Field{"step", &SliceAttrs::step, per_axis(1)}};
  }
};

/// Elements added before, after and between those of each axis; negative low and high crop.
struct PadAttrs {
  IntList low, high, inside;
  double value = 0.0;
  static auto fields() {
    return std::tuple{Field{"low", &PadAttrs::low, offsets_from(0, 1)},
                      Field{"high", &PadAttrs::high, rests_from(0, -1)},
                      Field{"inside", &PadAttrs::inside, per_axis(0)}, Field{"value", &PadAttrs::value}};
  }
};

struct AxisAttrs {
  int axis;
  static auto fields() { return std::tuple{Field{"axis", &AxisAttrs::axis, axes_of(0)}}; }
};

struct DotAttrs {
  Axes contract_a, contract_b, batch_a, batch_b;
  static auto fields() {
    return std::tuple{Field{"contract_a", &DotAttrs::contract_a, axes_of(0)},
                      Field{"contract_b", &DotAttrs::contract_b, axes_of(1)},
                      Field{"batch_a", &DotAttrs::batch_a, paired_axes_of(0)},
                      Field{"batch_b", &DotAttrs::batch_b, paired_axes_of(1)}};
  }
  /// Axes of an operand of this rank that are neither summed over nor batch, ascending.
  [[nodiscard]] static Axes free_axes(int rank, const Axes& contract, const Axes& batch) {
    Axes result;
    for (int axis = 0; axis < rank; ++axis) {
      if (!contract.contains(axis) && !batch.contains(axis)) result.push_back(axis);
    }
    return result;
  }
};

/// A convolution between x [n, spatial…, c], w [window…, c / groups, k] and y [n, spatial…, k]; each spatial
/// list has one entry per spatial axis.
struct ConvAttrs {
  IntList stride, low, high, dilation;
  int groups = 1;
  IntList spatial;  ///< extents of the result: x (conv_transpose), the window (conv_weights); empty for conv
  static auto fields() {
    return std::tuple{Field{"stride", &ConvAttrs::stride},
                      Field{"low", &ConvAttrs::low, offsets_from(1, -1)},
                      Field{"high", &ConvAttrs::high, rests_from(1, 1)},
                      Field{"dilation", &ConvAttrs::dilation},
                      Field{"groups", &ConvAttrs::groups},
                      Field{"spatial", &ConvAttrs::spatial, window_extents_from(1)}};
  }
};

/// Axes that are normalized together, sorted; epsilon is added to their variance.
struct NormalizeAttrs {
  Axes axes;
  double epsilon = 0.0;
  static auto fields() {
    return std::tuple{Field{"axes", &NormalizeAttrs::axes, axes_of(0)},
                      Field{"epsilon", &NormalizeAttrs::epsilon}};
  }
};

/// The factor of products of queries and keys, and whether a query sees only the keys up to its own place.
struct AttentionAttrs {
  double scale = 1.0;
  bool causal = false;
  static auto fields() {
    return std::tuple{Field{"scale", &AttentionAttrs::scale}, Field{"causal", &AttentionAttrs::causal}};
  }
};

/// The number added to the variances that a normalization divides by.
struct EpsilonAttrs {
  double epsilon = 0.0;
  static auto fields() { return std::tuple{Field{"epsilon", &EpsilonAttrs::epsilon}}; }
};

/// Factors of two tensors.
struct BlendAttrs {
  double keep, take;
  static auto fields() {
    return std::tuple{Field{"keep", &BlendAttrs::keep}, Field{"take", &BlendAttrs::take}};
  }
};

struct AdamAttrs {
  double epsilon;
  static auto fields() { return std::tuple{Field{"epsilon", &AdamAttrs::epsilon}}; }
};

/// Windows over the spatial axes of x [n, spatial…, c].
struct PoolAttrs {
  IntList window, stride, low, high;
  static auto fields() {
    return std::tuple{Field{"window", &PoolAttrs::window}, Field{"stride", &PoolAttrs::stride},
                      Field{"low", &PoolAttrs::low, offsets_from(1, -1)},
                      Field{"high", &PoolAttrs::high, rests_from(1, 1)}};
  }
};

/// The array that is drawn for each key.
struct RandomAttrs {
  Shape shape;
  DType dtype;
  static auto fields() {
    return std::tuple{Field{"shape", &RandomAttrs::shape}, Field{"dtype", &RandomAttrs::dtype}};
  }
};

/// Which axis integers point into, of this extent; the first `batch` axes are those of the integers too.
struct IndexAttrs {
  int batch = 0, axis = 0;
  Dim extent = 0;
  static auto fields() {
    return std::tuple{Field{"batch", &IndexAttrs::batch, axes_in_front},
                      Field{"axis", &IndexAttrs::axis, axes_of(0)}, Field{"extent", &IndexAttrs::extent}};
  }
};

/// A part of x [batch…, rest…] with these extents, of which these axes start at positions [batch…].
struct PartAttrs {
  int batch = 0;
  Axes axes;
  Shape extents;
  static auto fields() {
    return std::tuple{Field{"batch", &PartAttrs::batch, axes_in_front},
                      Field{"axes", &PartAttrs::axes, axes_of(0)},
                      Field{"extents", &PartAttrs::extents, extents_of_result}};
  }
};

/// The last position that is allowed.
struct PositionAttrs {
  Dim last = 0;
  static auto fields() { return std::tuple{Field{"last", &PositionAttrs::last}}; }
};

/// An axis along which elements are accumulated, from its last element on if reverse.
struct ScanAttrs {
  int axis = 0;
  bool reverse = false;
  static auto fields() {
    return std::tuple{Field{"axis", &ScanAttrs::axis, axes_of(0)}, Field{"reverse", &ScanAttrs::reverse}};
  }
};

/// A vector that is made from nothing.
struct IotaAttrs {
  Dim count = 0;
  DType dtype;
  Device device;
  static auto fields() {
    return std::tuple{Field{"count", &IotaAttrs::count}, Field{"dtype", &IotaAttrs::dtype},
                      Field{"device", &IotaAttrs::device}};
  }
};

/// A number of any dtype, in its own representation; the bytes behind it are 0.
struct ConstantAttrs {
  std::array<std::byte, 16> bytes{};
  DType dtype;
  Device device;
  static auto fields() {
    return std::tuple{Field{"bytes", &ConstantAttrs::bytes}, Field{"dtype", &ConstantAttrs::dtype},
                      Field{"device", &ConstantAttrs::device}};
  }
};

/// A shape seen along one of its axes: [outer, extent, inner].
struct AlongAxis {
  std::int64_t outer = 1, extent = 1, inner = 1;
  AlongAxis(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

/// Which triangle of a matrix counts, and whether its adjoint is meant.
struct SolveAttrs {
  bool lower = true, adjoint = false;
  static auto fields() {
    return std::tuple{Field{"lower", &SolveAttrs::lower}, Field{"adjoint", &SolveAttrs::adjoint}};
  }
};

/// Positions of a window along an axis; negative where not even one fits.
[[nodiscard]] constexpr Dim n_windows(Dim extent, Dim low, Dim high, Dim window, Dim stride, Dim dilation) {
  const Dim room = extent + low + high - ((window - 1) * dilation + 1);
  return room < 0 ? -1 : room / stride + 1;
}

}  // namespace lodestone::engine
