// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/linear.hpp"

namespace lodestone::engine {

/// Lists have one entry per spatial axis; empty ones mean 1 (stride, dilation) or 0 (padding) everywhere.
struct ConvLayerOptions {
  IntList window;  ///< its length 1, 2 or 3 is that of the spatial axes: lines, images, volumes
  IntList stride = {};
  IntList padding = {};        ///< zeros before and after
  IntList padding_after = {};  ///< after, where it differs
  IntList dilation = {};
  int groups = 1;  ///< channels are split into so many parts that do not see each other
  Bias bias = Bias::yes;
  Initializer weight = fan_in_uniform();
  Initializer initial_bias = constant(0.0);
};

/// Convolution over 1 to 3 spatial axes (the length of the window), channels last.
/// shapes: [n, spatial…, c_in] → [n, spatial…, c_out]; "weight" [window…, c_in / groups, c_out], "bias"
/// [c_out].
class Conv : public Module {
 public:
  /// Makes kernel and bias. errors: InvalidArgument for lists of unequal lengths, and for channels that are
  /// no multiples of the groups.
  Conv(Dim c_in, Dim c_out, InitialValues& initial, const ConvLayerOptions& options);
  /// Returns the convolution of x. errors: ShapeError for another rank or number of channels, and for a
  /// window larger than the padded input.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  ConvLayerOptions options_;
  Dim c_in_;
  Variable weight_;
  std::optional<Variable> bias_;
};

struct ConvTransposeOptions {
  ConvLayerOptions conv;
  IntList output_padding = {};  ///< elements added to each output axis, fewer than the stride: which of the
                                ///< outputs with the same convolution is meant
};

/// The adjoint of a convolution as a layer: with a stride it makes its input longer.
/// shapes: [n, spatial…, c_in] → [n, (spatial − 1) stride − padding before − after + dilation (window − 1) +
/// 1 + output padding, c_out]; "weight" [window…, c_out / groups, c_in], "bias" [c_out].
class ConvTranspose : public Module {
 public:
  /// Makes kernel and bias. errors: as `Conv`; InvalidArgument for an output padding that is not smaller than
  /// the stride.
  ConvTranspose(Dim c_in, Dim c_out, InitialValues& initial, const ConvTransposeOptions& options);
  /// Returns the transposed convolution of x. errors: ShapeError for another rank or number of channels.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  ConvTransposeOptions options_;
  Dim c_in_;
  Variable weight_;
  std::optional<Variable> bias_;
};

}  // namespace lodestone::engine
