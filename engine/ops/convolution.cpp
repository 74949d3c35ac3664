// SPDX-License-Identifier: Apache-2.0
// Convolutions, channels last. One trilinear form T(x, w, y) = Σ x[n, p s + q d − low, c] w[q, c, k] y[n, p,
// k] (p over positions, q over the window) makes three ops, each its derivative with respect to one of them:
// conv = ∂T/∂y, conv_transpose = ∂T/∂x, conv_weights = ∂T/∂w. So the adjoints of each are the other two.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

enum class Role { x, w, y };

Tensor call(std::string_view op, const Tensor& a, const Tensor& b, ConvAttrs attrs, IntList spatial,
            std::source_location where) {
  attrs.spatial = std::move(spatial);
  return record(op_named(op), {a, b}, make_attrs(std::move(attrs)), where);
}

/// All extents but two, from `first` on.
IntList middle(const Shape& shape, int first) {
  return IntList(std::span(shape.begin() + first, static_cast<std::size_t>(shape.rank() - 2)));
}
IntList spatial_of(const Tensor& t, Role role) { return middle(t.shape(), role == Role::w ? 0 : 1); }

Tensor conv_of(R args, const Tensor& x, const Tensor& w) {
  return call("conv", x, w, args.as<ConvAttrs>(), {}, args.where);
}
Tensor transpose_of(R args, const Tensor& y, const Tensor& w, const Tensor& like) {
  return call("conv_transpose", y, w, args.as<ConvAttrs>(), spatial_of(like, Role::x), args.where);
}
Tensor weights_of(R args, const Tensor& x, const Tensor& y, const Tensor& like) {
  return call("conv_weights", x, y, args.as<ConvAttrs>(), spatial_of(like, Role::w), args.where);
}

// Shape rules.

void expect(bool holds, const InferArgs& args, std::string_view id, std::string_view what) {
  if (holds) return;
  throw core::ShapeError(fmt::format("{}#{}", args.op.name, id), "expected {}, got {} and {} with {} {}",
                         what, args.aval(0).text(), args.aval(1).text(), args.attrs->text(),
                         at_line(args.where));
}

/// Number of spatial axes, after the checks that all three ops share.
int checked_spatial(const InferArgs& args) {
  const auto& attrs = args.as<ConvAttrs>();
  const int n = args.aval(0).shape.rank() - 2;
  expect(n >= 1 && n <= 3 && args.aval(1).shape.rank() == n + 2, args, "wrong_ranks",
         "operands with 1 to 3 spatial axes each");
  expect(args.aval(0).dtype == args.aval(1).dtype, args, "unequal_dtypes", "equal dtypes");
  const bool lists = attrs.stride.size() == n && attrs.low.size() == n && attrs.high.size() == n &&
                     attrs.dilation.size() == n;
  expect(lists && attrs.groups >= 1, args, "wrong_list_length",
         "one stride, padding and dilation per spatial axis and at least one group");
  for (int i = 0; i < n; ++i)
    expect(attrs.stride[i] >= 1 && attrs.dilation[i] >= 1, args, "wrong_stride_or_dilation",
           "positive strides and dilations");
  return n;
}

Aval infer_conv(const InferArgs& args) {
  const auto& attrs = args.as<ConvAttrs>();
  const int n = checked_spatial(args);
  const Shape &x = args.aval(0).shape, &w = args.aval(1).shape;
  expect(x[n + 1] == w[n] * attrs.groups && w[n + 1] % attrs.groups == 0, args, "wrong_channels",
         "x [n, spatial…, c] and w [window…, c / groups, k], k a multiple of groups");
  Aval result = args.aval(0);
  for (int i = 0; i < n; ++i) {
    result.shape[1 + i] =
        n_windows(x[1 + i], attrs.low[i], attrs.high[i], w[i], attrs.stride[i], attrs.dilation[i]);
    expect(result.shape[1 + i] >= 0, args, "wrong_window", "a window that fits into the padded input");
  }
  result.shape[n + 1] = w[n + 1];
  return result;
}

Aval infer_transpose(const InferArgs& args) {
  const auto& attrs = args.as<ConvAttrs>();
  const int n = checked_spatial(args);
  const Shape &y = args.aval(0).shape, &w = args.aval(1).shape;
  expect(y[n + 1] == w[n + 1] && w[n + 1] % attrs.groups == 0, args, "wrong_channels",
         "y [n, spatial…, k] and w [window…, c / groups, k], k a multiple of groups");
  Aval result = args.aval(0);
  for (int i = 0; i < n; ++i) {
    expect(y[1 + i] == n_windows(attrs.spatial[i], attrs.low[i], attrs.high[i], w[i], attrs.stride[i],
                                 attrs.dilation[i]),
           args, "wrong_extents", "an output whose convolution has the shape of y");
    result.shape[1 + i] = attrs.spatial[i];
  }
  result.shape[n + 1] = w[n] * attrs.groups;
  return result;
}

Aval infer_weights(const InferArgs& args) {
  const auto& attrs = args.as<ConvAttrs>();
  const int n = checked_spatial(args);
  const Shape &x = args.aval(0).shape, &y = args.aval(1).shape;
  expect(x[0] == y[0] && x[n + 1] % attrs.groups == 0 && y[n + 1] % attrs.groups == 0, args, "wrong_channels",
         "equal batches and channels that are multiples of groups");
  Aval result = args.aval(0);
  for (int i = 0; i < n; ++i) {
    expect(y[1 + i] == n_windows(x[1 + i], attrs.low[i], attrs.high[i], attrs.spatial[i], attrs.stride[i],
                                 attrs.dilation[i]),
           args, "wrong_extents", "y of the shape of the convolution of x");
    result.shape[i] = attrs.spatial[i];
  }
  result.shape[n] = x[n + 1] / attrs.groups;
  result.shape[n + 1] = y[n + 1];
  return result;
}

// Axes. Labels are n, positions p, window q, channels c and k; those of the output come first.

/// Returns the access of x along spatial axis i, for labels of p and q.
AxisAccess in_window(const ConvAttrs& attrs, int i, int p, int q) {
  AxisAccess access = affine_in(p, attrs.stride[i], -attrs.low[i]);
  access.window = q;
  access.dilation = attrs.dilation[i];
  return access;
}

/// Returns the map of conv or conv_transpose: labels [n, p…, k] or [n, x…, c] of the output, then [q…, c] or
/// [q…, k] of sums. `w_out`, `w_summed`: which axes of w have these channels. Those of several groups are
/// whole.
AxisMap axes_of_data(const AxisArgs& args, int w_out, int w_summed, AxisAccess::How how) {
  const auto& attrs = args.as<ConvAttrs>();
  const Shape& w = args.in[1].shape;
  const int channels = w.rank() - 1;
  AxisMap map = needing_all(args, Label::Kind::free);
  map.set(0, 0, same_as(0));
  for (int i = 0; i + 1 < channels; ++i) {
    const int q = map.add(Label::Kind::reduced, w[i]);
    AxisAccess window = in_window(attrs, i, 1 + i, q);
    window.how = how;
    map.set(0, 1 + i, window);
    map.set(1, i, same_as(q));
  }
  if (attrs.groups > 1) {
    map.labels[static_cast<std::size_t>(channels)].kind = Label::Kind::whole;
    return map;
  }
  const int summed = map.add(Label::Kind::reduced, w[w_summed]);
  map.set(0, channels, same_as(summed));
  map.set(1, w_summed, same_as(summed));
  map.set(1, w_out, same_as(channels));
  return map;
}

AxisMap axes_of_conv(const AxisArgs& args) {
  const int k = args.out.shape.rank() - 1;
  return axes_of_data(args, k, k - 1, AxisAccess::How::affine);
}

AxisMap axes_of_transpose(const AxisArgs& args) {
  const int k = args.out.shape.rank() - 1;
  return axes_of_data(args, k - 1, k, AxisAccess::How::inverse);
}

/// Labels are [q…, c, k] of the output, then [n, p…] of sums.
AxisMap axes_of_weights(const AxisArgs& args) {
  const auto& attrs = args.as<ConvAttrs>();
  const Shape& y = args.in[1].shape;
  const int k = y.rank() - 1;
  AxisMap map = needing_all(args, Label::Kind::free);
  for (int i = 0; i < k; ++i) {
    const int label = map.add(Label::Kind::reduced, y[i]);
    map.set(0, i, i == 0 ? same_as(label) : in_window(attrs, i - 1, label, i - 1));
    map.set(1, i, same_as(label));
  }
  for (const int channels : {k - 1, k}) {
    const bool has_groups = attrs.groups > 1;
    if (has_groups) map.labels[static_cast<std::size_t>(channels)].kind = Label::Kind::whole;
    if (!has_groups) map.set(channels == k ? 1 : 0, k, same_as(channels));
  }
  return map;
}

/// A batch that no axis takes becomes more groups: each item has its own channels.
Tensor batch_grouped(R args, const std::vector<bool>& batched) {
  if (auto result = batch_along_axis(args, batched)) return *result;
  const Dim size = batch_size(args, batched);
  if (size == 0) return zeros(args.out.shape().inserted(0, 0), args.out.dtype(), args.out.device());
  const int channels = args.out.rank() - 1;  // the last axis of all
  ConvAttrs grouped = args.as<ConvAttrs>();
  grouped.groups *= static_cast<int>(size);
  Tensors inputs;
  for (std::size_t i = 0; i < args.in.size(); ++i)
    inputs.push_back(merge_batch(with_batch(args.in[i], batched[i], size), channels));
  return split_batch(record(args.op, inputs, make_attrs(grouped), args.where), channels, size,
                     args.out.shape()[channels]);
}

// Samples.

struct ConvSample {
  Shape x, w, y;
  ConvAttrs attrs;
};

ConvSample draw(Sampler& sampler) {
  const auto n = static_cast<int>(sampler.integer(1, 3));
  ConvSample result;
  const Dim groups = sampler.chance(0.3) ? sampler.integer(2, 3) : 1, c = sampler.integer(1, 4),
            k = groups * sampler.integer(1, 4);
  result.attrs.groups = static_cast<int>(groups);
  result.x.push_back(sampler.chance(0.05) ? 0 : sampler.integer(1, 3));
  result.y.push_back(result.x[0]);
  for (int i = 0; i < n; ++i) {
    const Dim window = sampler.integer(1, 3), dilation = sampler.integer(1, 2),
              stride = sampler.integer(1, 3);
    const Dim low = sampler.integer(0, window), high = sampler.integer(0, window);
    const Dim extent =
        std::max<Dim>((window - 1) * dilation + 1 - low - high, 1) + sampler.integer(0, n == 1 ? 20 : 4);
    result.x.push_back(extent);
    result.w.push_back(window);
    result.y.push_back(n_windows(extent, low, high, window, stride, dilation));
    result.attrs.stride.push_back(stride);
    result.attrs.dilation.push_back(dilation);
    result.attrs.low.push_back(low);
    result.attrs.high.push_back(high);
  }
  result.x.push_back(c * groups);
  result.w.push_back(c);
  result.w.push_back(k);
  result.y.push_back(k);
  return result;
}

OpInfo convolution(std::string name, std::string formula, Aval (*infer)(const InferArgs&),
                   AxisMap (*axes)(const AxisArgs&), Derivative derivative) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = 2;
  row.dtypes = floats;
  row.infer = infer;
  row.derivative = std::move(derivative);
  row.op_class = OpClass::window;
  row.axes = axes;
  row.batch = batch_grouped;
  return row;
}

/// Each position of y takes every element of a channel's window.
double work(const Aval& y, const Aval& w) {
  return multiply_adds(static_cast<double>(y.count()) * static_cast<double>(w.count()) /
                           static_cast<double>(std::max<Dim>(w.shape.back(), 1)),
                       y.dtype);
}

}  // namespace

void register_convolutions(OpTable& table) {
  OpInfo conv = convolution(
      "conv", "y[n, p, k] = Σ x[n, p s + q d - low, c] w[q, c, k]", infer_conv, axes_of_conv,
      multilinear("conv(dx, w) + conv(x, dw)", [](R args, const Tensor& cotangent, std::size_t which) {
        return which == 0 ? transpose_of(args, cotangent, conj(args.in[1]), args.in[0])
                          : weights_of(args, conj(args.in[0]), cotangent, args.in[1]);
      }));
  conv.flops = [](const InferArgs& args, const Aval& out) { return work(out, args.aval(1)); };
  conv.sample = [](Sampler& sampler) {
    const ConvSample drawn = draw(sampler);
    return Sample{{sampler.tensor(drawn.x, -1, 1), sampler.tensor(drawn.w, -1, 1)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(conv));

  OpInfo back =
      convolution("conv_transpose", "x[n, p s + q d - low, c] = Σ y[n, p, k] w[q, c, k]", infer_transpose,
                  axes_of_transpose,
                  multilinear("conv_transpose(dy, w) + conv_transpose(y, dw)",
                              [](R args, const Tensor& cotangent, std::size_t which) {
                                return which == 0 ? conv_of(args, cotangent, conj(args.in[1]))
                                                  : weights_of(args, cotangent, conj(args.in[0]), args.in[1]);
                              }));
  back.flops = [](const InferArgs& args, const Aval&) { return work(args.aval(0), args.aval(1)); };
  back.sample = [](Sampler& sampler) {
    ConvSample drawn = draw(sampler);
    drawn.attrs.spatial = middle(drawn.x, 1);
    return Sample{{sampler.tensor(drawn.y, -1, 1), sampler.tensor(drawn.w, -1, 1)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(back));

  OpInfo weights = convolution(
      "conv_weights", "w[q, c, k] = Σ x[n, p s + q d - low, c] y[n, p, k]", infer_weights, axes_of_weights,
      multilinear("conv_weights(dx, y) + conv_weights(x, dy)",
                  [](R args, const Tensor& cotangent, std::size_t which) {
                    return which == 0 ? transpose_of(args, conj(args.in[1]), cotangent, args.in[0])
                                      : conv_of(args, conj(args.in[0]), cotangent);
                  }));
  weights.flops = [](const InferArgs& args, const Aval& out) { return work(args.aval(1), out); };
  weights.sample = [](Sampler& sampler) {
    ConvSample drawn = draw(sampler);
    drawn.attrs.spatial = middle(drawn.w, 0);
    return Sample{{sampler.tensor(drawn.x, -1, 1), sampler.tensor(drawn.y, -1, 1)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(weights));
}

namespace {
ConvAttrs attrs_from(const ConvOptions& options, int n_spatial) {
  const auto each = [&](const IntList& list, Dim otherwise) {
    return list.empty() ? IntList::filled(n_spatial, otherwise) : list;
  };
  return {each(options.stride, 1),   each(options.low, 0), each(options.high, 0),
          each(options.dilation, 1), options.groups,       {}};
}
}  // namespace

Tensor conv(const Located& x, const Located& w, const ConvOptions& options) {
  return call("conv", x.tensor, w.tensor, attrs_from(options, x.tensor.rank() - 2), {}, x.where);
}

Tensor conv_transpose(const Located& y, const Located& w, const IntList& spatial,
                      const ConvOptions& options) {
  const int n = y.tensor.rank() - 2;
  if (spatial.size() != n)
    throw core::ShapeError("conv_transpose#wrong_output_extents",
                           "expected {} output extents for {}, got {} {}", n, y.tensor.aval().text(),
                           spatial.text(), at_line(y.where));
  return call("conv_transpose", y.tensor, w.tensor, attrs_from(options, n), spatial, y.where);
}

}  // namespace lodestone::engine
