// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/convolution.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {
namespace {

/// The options with every list filled in.
ConvLayerOptions completed(std::string_view module, ConvLayerOptions options, Dim c_in, Dim c_out) {
  const int n = options.window.size();
  const auto fill = [&](IntList& list, const IntList& otherwise) {
    if (list.empty()) list = otherwise;
    if (list.size() != n)
      throw core::InvalidArgument(std::string(module) + "#wrong_list_length",
                                  "expected one entry per axis of the window {}, got {}",
                                  options.window.text(), list.text());
  };
  if (n < 1 || n > 3)
    throw core::InvalidArgument(std::string(module) + "#wrong_window",
                                "expected a window with 1 to 3 axes, got {}", options.window.text());
  fill(options.stride, IntList::filled(n, 1));
  fill(options.dilation, IntList::filled(n, 1));
  fill(options.padding, IntList::filled(n, 0));
  fill(options.padding_after, options.padding);
  if (options.groups < 1 || c_in % options.groups != 0 || c_out % options.groups != 0)
    throw core::InvalidArgument(std::string(module) + "#wrong_groups",
                                "expected channels that are multiples of {} groups, got {} in and {} out",
                                options.groups, c_in, c_out);
  return options;
}

ConvOptions op_options(const ConvLayerOptions& options) {
  return {.stride = options.stride,
          .low = options.padding,
          .high = options.padding_after,
          .dilation = options.dilation,
          .groups = options.groups};
}

/// window…, c / groups, k.
Shape weight_shape(const ConvLayerOptions& options, Dim c, Dim k) {
  Shape shape = options.window;
  shape.push_back(c / options.groups);
  shape.push_back(k);
  return shape;
}

double product(const IntList& list) { return static_cast<double>(Shape(list).count()); }

/// Returns the fan of a convolution. Inputs and outputs change places in its adjoint, where a stride leaves
/// out most of the window.
Fan fan_of(const ConvLayerOptions& options, Dim c_in, Dim c_out, double share) {
  const double taps = share * product(options.window) / options.groups;
  return {taps * static_cast<double>(c_in), taps * static_cast<double>(c_out)};
}

void check_input(std::string_view module, const Located& x, int n_spatial, Dim channels) {
  check_channels(module, x, channels);
  if (x.tensor.rank() != n_spatial + 2)
    throw core::ShapeError(std::string(module) + "#wrong_rank",
                           "expected an input [n, {} spatial axes, {}], got {} {}", n_spatial, channels,
                           x.tensor.aval().text(), at_line(x.where));
}

}  // namespace

Conv::Conv(Dim c_in, Dim c_out, InitialValues& initial, const ConvLayerOptions& options)
    : options_(completed("Conv", options, c_in, c_out)),
      c_in_(c_in),
      weight_(add_parameter("weight", initial.draw(weight_shape(options_, c_in, c_out), options.weight,
                                                   fan_of(options_, c_in, c_out, 1.0)))) {
  if (options.bias == Bias::yes)
    bias_ = add_parameter("bias",
                          initial.draw({c_out}, options.initial_bias, fan_of(options_, c_in, c_out, 1.0)));
}

Tensor Conv::operator()(const Located& x) const {
  check_input("Conv", x, options_.window.size(), c_in_);
  const Tensor y = conv(x, weight_.value(), op_options(options_));
  return bias_ ? y + bias_->value() : y;
}

ConvTranspose::ConvTranspose(Dim c_in, Dim c_out, InitialValues& initial, const ConvTransposeOptions& options)
    : options_{completed("ConvTranspose", options.conv, c_in, c_out), options.output_padding},
      c_in_(c_in),
      weight_(add_parameter(
          "weight", initial.draw(weight_shape(options_.conv, c_out, c_in), options.conv.weight,
                                 fan_of(options_.conv, c_in, c_out, 1.0 / product(options_.conv.stride))))) {
  const IntList& stride = options_.conv.stride;
  if (options_.output_padding.empty()) options_.output_padding = IntList::filled(stride.size(), 0);
  bool fits = options_.output_padding.size() == stride.size();
  for (int i = 0; fits && i < stride.size(); ++i)
    fits = options_.output_padding[i] >= 0 && options_.output_padding[i] < stride[i];
  if (!fits)
    throw core::InvalidArgument(
        "ConvTranspose#wrong_output_padding",
        "expected an output padding of 0 to stride − 1 per axis, got {} with stride {}",
        options_.output_padding.text(), stride.text());
  if (options.conv.bias == Bias::yes)
    bias_ = add_parameter("bias", initial.draw({c_out}, options.conv.initial_bias));
}

Tensor ConvTranspose::operator()(const Located& x) const {
  const auto& [window, stride, low, high, dilation, groups, bias, weight, initial_bias] = options_.conv;
  check_input("ConvTranspose", x, window.size(), c_in_);
  IntList spatial;
  for (int i = 0; i < window.size(); ++i) {
    spatial.push_back((x.tensor.shape()[1 + i] - 1) * stride[i] - low[i] - high[i] +
                      dilation[i] * (window[i] - 1) + 1 + options_.output_padding[i]);
  }
  const Tensor y = conv_transpose(x, weight_.value(), spatial, op_options(options_.conv));
  return bias_ ? y + bias_->value() : y;
}

}  // namespace lodestone::engine
